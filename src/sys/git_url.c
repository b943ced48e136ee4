#include <strings.h>
#include "src/sys/git.h"
#include "src/sys/path.h"

static struct str from(struct str s, size_t at)
{
	return str_sub(s, at < s.n ? at : s.n, s.n);
}

/* `git+ssh://` and the like; 0 when it does not begin with a scheme. */
static size_t scheme_length(struct str url)
{
	size_t n = str_find(url, STR("://"));

	if (n == url.n || !n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		char c = url.p[i];

		if (!strchr("+-.", c) && !(c >= '0' && c <= '9') &&
			!((c | 32) >= 'a' && (c | 32) <= 'z'))
			return 0;
	}
	return n + 3;
}

static bool is_file_scheme(struct str url)
{
	return url.n >= 7 && strncasecmp(url.p, "file://", 7) == 0;
}

/* Offset of the path in `host:path`, `user@host:path`, `[user@host:22]:path`; 0: another form. */
static size_t scp_path(struct str url)
{
	size_t bracket = str_find(url, STR("["));
	size_t slash = str_find(url, STR("/"));
	size_t colon;

	if (bracket < slash && str_find(from(url, bracket), STR("]:")) < url.n - bracket)
		return bracket + str_find(from(url, bracket), STR("]:")) + 2;
	colon = str_find(url, STR(":"));
	return colon && colon < slash ? colon + 1 : 0;
}

static struct str without_slashes(struct str s)
{
	while (s.n && s.p[0] == '/')
		s = from(s, 1);
	while (s.n && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

static struct str last_two(struct str path)
{
	unsigned slashes = 0;

	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/' && ++slashes == 2)
			return from(path, i);
	return path;
}

static struct str without_git(struct str path)
{
	if (str_ends(path, "/.git")) /* a work tree that is somebody's origin */
		path.n -= 5;
	else if (path.n > 4 && str_ends(path, ".git"))
		path.n -= 4;
	return without_slashes(path);
}

bool git_slug_of_url(struct str url, struct buf *slug)
{
	size_t scheme, scp;
	bool local;
	struct str path;

	url = str_trim(url);
	scheme = scheme_length(url);
	scp = scheme ? 0 : scp_path(url);
	local = is_file_scheme(url) || (!scheme && !scp);
	path = from(url, scheme ? scheme : scp);
	if (scheme)
		path = from(path, str_find(path, STR("/")));
	path = without_git(without_slashes(path));
	if (local)
		path = last_two(path);
	if (!slug_valid(path))
		return false;
	buf_add(slug, path);
	return true;
}
