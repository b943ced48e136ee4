/* A process that does nothing: the floor under every other. */
int main(void)
{
	return 0;
}
