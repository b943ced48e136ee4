#include "src/config/models.h"

/* The file as it is, so that what is built in is what can be read and copied. */
__asm__(".pushsection .rodata\n"
	".globl models_yaml\n"
	"models_yaml:\n"
	".incbin \"models/models.yaml\"\n"
	".byte 0\n"
	".popsection\n");
extern const char models_yaml[];

struct str models_shipped(void)
{
	return str_of(models_yaml);
}
