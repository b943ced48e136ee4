#include "src/sys/git.h"
#include "tests/lib/unit.h"

static void slug_of(const char *url, const char *expected)
{
	CLEANUP(buf_release) struct buf slug = BUF_INIT;
	bool got = git_slug_of_url(str_of(url), &slug);

	if (got != (expected != NULL) || (got && strcmp(slug.s, expected) != 0))
		fail_msg("%s gives %s", url, got ? slug.s : "nothing");
}

TEST(every_form_of_url_gives_its_slug)
{
	slug_of("https://github.com/org/repo", "org/repo");
	slug_of("https://github.com/org/repo.git", "org/repo");
	slug_of("https://github.com/org/repo.git/", "org/repo");
	slug_of("https://github.com/org/repo/", "org/repo");
	slug_of("https://user:p@ss@host.example:8443/org/repo.git", "org/repo");
	slug_of("HTTP://HOST/Org/Repo", "Org/Repo");
	slug_of("git@host:org/repo.git", "org/repo");
	slug_of("git@host:org/repo", "org/repo");
	slug_of("host:org/repo.git/", "org/repo");
	slug_of("git@host:/srv/org/repo.git", "srv/org/repo");
	slug_of("[git@host:22]:org/repo.git", "org/repo");
	slug_of("git@[::1]:org/repo.git", "org/repo");
	slug_of("ssh://git@host:22/org/repo.git", "org/repo");
	slug_of("ssh://git@[::1]:22/org/repo.git", "org/repo");
	slug_of("git+ssh://host/org/repo", "org/repo");
	slug_of("git://host/a/b/c.git", "a/b/c");
	slug_of("git@host:repo.git", "repo");
	slug_of("  https://host/org/repo\n", "org/repo");
	slug_of("https://host/org/a.b_c-d.git", "org/a.b_c-d");
	slug_of("/srv/git/org/repo.git", "org/repo");
	slug_of("/srv/git/org/repo/.git", "org/repo");
	slug_of("file:///srv/git/org/repo.git/", "org/repo");
	slug_of("../org/repo", "org/repo");
	slug_of("/repo.git", "repo");
	slug_of("https://dev.azure.com/org/proj/_git/repo", "org/proj/repo");
	slug_of("https://org.visualstudio.com/_git/repo", "repo");
}

TEST(what_gives_no_slug_is_refused)
{
	static const char *const urls[] = {"", " ", "/", ".", "..", "../repo", "https://",
		"https://host", "https://host/", "https://host/.git", "git@host:", "git@host:.git",
		"ssh://host:22", "https://host/org/../repo", "https://host/org//repo",
		"https://host/~user/repo", "https://host/org/re po", "https://host/org/repo?x=1",
		"https://host/org/repo#x", "https://host/org/%2e%2e", "file:///",
		"codecommit::eu://repo", "C:\\git\\repo", "https://host/org/re\npo",
		"/srv/.hidden/repo", "git@host:-o/repo", "[", "[]:", ":", ":x", "://x/y/z z"};

	for (size_t i = 0; i < COUNT(urls); i++)
		slug_of(urls[i], NULL);
}
