#include "src/graph/manifest.h"

const char *const template_names[] = {"id", "node", "persona", "block", "task", "attempt", NULL};

static bool template_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
			    s.p[i]))
			return false;
	return s.n > 0;
}

/* What stands for a variable is not looked at again, so that no value can name another one. */
size_t template_render(struct str text, template_visit *visit, void *data, struct buf *out)
{
	for (size_t i = 0; i < text.n;) {
		struct str rest = str_sub(text, i, text.n), name;
		size_t end;

		if (!str_starts(rest, "{{")) {
			end = str_find(rest, STR("{{"));
			if (out)
				buf_add(out, str_sub(rest, 0, end));
			i += end;
			continue;
		}
		end = str_find(rest, STR("}}"));
		name = str_trim(str_sub(rest, 2, end));
		if (end == rest.n || !template_is_name(name))
			return i + 1;
		visit(data, name, out);
		i += end + 2;
	}
	return 0;
}
