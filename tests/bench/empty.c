/* A process that does nothing: the minimum cost of a process. */
int main(void)
{
	return 0;
}
