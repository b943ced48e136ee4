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

TEST(blanks_and_other_characters_are_encoded)
{
	slug_of("https://org@dev.azure.com/org/My%20Project/_git/My%20Repo",
		"org/My%20Project/My%20Repo");
	slug_of("https://dev.azure.com/org/My Project/_git/repo", "org/My%20Project/repo");
	slug_of("git@ssh.dev.azure.com:v3/org/My%20Project/repo", "v3/org/My%20Project/repo");
	slug_of("ssh://git@host/org/My Project/repo.git", "org/My%20Project/repo");
	slug_of("https://host/org/\xC3\x9C"
		"ber.git",
		"org/%C3%9Cber");
	slug_of("https://host/org/%c3%9cber", "org/%C3%9Cber");
	slug_of("git@host:\xE5\xBA\x97/repo", "%E5%BA%97/repo");
	slug_of("https://host/org/%72epo", "org/repo");
	slug_of("https://host/~user/repo", "%7Euser/repo");
	slug_of("https://host/org/50%", "org/50%25");
	slug_of("file:///srv/My%20Code/repo.git", "My%20Code/repo");
	slug_of("/srv/My Code/repo.git", "My%20Code/repo");
	slug_of("/srv/My%20Code/repo.git", "My%2520Code/repo");
}

TEST(what_gives_no_slug_is_refused)
{
	static const char *const urls[] = {"", " ", "/", ".", "..", "../repo", "https://",
		"https://host", "https://host/", "https://host/.git", "git@host:", "git@host:.git",
		"ssh://host:22", "https://host/org/../repo", "https://host/org//repo",
		"https://host/org/repo?x=1", "https://host/org/repo#x", "https://host/org/%2e%2e",
		"file:///", "codecommit::eu://repo", "C:\\git\\repo", "https://host/org/re\npo",
		"/srv/.hidden/repo", "git@host:-o/repo", "[", "[]:", ":", ":x", "://x/y/z*z",
		"https://host/org/a%2Fb", "https://host/org/a%00b", "https://host/org/a%0Ab",
		"https://host/%2Dorg/repo", "git@host:org/a%2fb"};

	for (size_t i = 0; i < COUNT(urls); i++)
		slug_of(urls[i], NULL);
}
