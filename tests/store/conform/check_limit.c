/* Limits: what breaks one is refused as BAD, and nothing happened. */
#include "tests/store/conform/probe.h"

static void sixty_four(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_op ops[STORE_OPS_MAX + 1] = {0};
	struct str all;
	int64_t rev;

	for (int i = 0; i <= STORE_OPS_MAX; i++)
		ops[i] = (struct store_op){.what = STORE_PUT,
			.key = arena_printf(&p->arena, "k/%02d", i),
			.value = STR("v")};
	rev = COMMIT(s, .ops = ops, .n_ops = STORE_OPS_MAX);
	NEED(probe_list(p, s, "k/", NULL, 100).n == STORE_OPS_MAX);
	all = probe_all(p, s);
	NEED_STATUS(TRY(s, NULL, .ops = ops, .n_ops = STORE_OPS_MAX + 1), STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
}

static void long_value(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	char *most = probe_bytes(p, STORE_VALUE_MAX, 'v');
	char *over = probe_bytes(p, STORE_VALUE_MAX + 1, 'v');
	int64_t rev = probe_put(p, s, "a", most);
	struct str all = probe_all(p, s);

	NEED_VALUE(s, "a", most);
	NEED_STATUS(TRY(s, NULL, OPS(PUT("a", over))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, OPS(PUT("b", "1"), PUT("a", over), PUT("c", "1"))), STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
	NEED_VALUE(probe_rejoin(p, s), "a", most);
}

static void long_txn(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_op ops[9] = {0};
	struct str all;
	int64_t rev;

	for (int i = 0; i < 9; i++)
		ops[i] = (struct store_op){.what = STORE_PUT,
			.key = arena_printf(&p->arena, "k%d", i),
			.value = {
				probe_bytes(p, STORE_VALUE_MAX, (char)('a' + i)), STORE_VALUE_MAX}};
	/* Whether keys count into the 512 KiB, no backend can tell by these. */
	rev = COMMIT(s, .ops = ops, .n_ops = 7);
	all = probe_all(p, s);
	NEED_STATUS(TRY(s, NULL, .ops = ops, .n_ops = 9), STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
	NEED_VALUE(s, "k6", ops[6].value.p);
}

static void bad_keys(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const char *const bad[] = {"", " ", "a b", "a\n", "\xc3\xa9", "a*", "a:b", "a\\b", "~",
		"\x7f", probe_bytes(p, STORE_KEY_MAX + 1, 'k')};
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct store_kv kv = {0};
		struct error err = {0};

		NEED_STATUS(TRY(s, NULL, OPS(PUT(bad[i], "1"))), STORE_BAD);
		NEED_STATUS(TRY(s, NULL, OPS(PUT("b", "1"), DEL(bad[i]))), STORE_BAD);
		NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS(bad[i], 0)), OPS(PUT("b", "1"))), STORE_BAD);
		NEED_STATUS(store_get(s, &p->arena, bad[i], &kv, &err), STORE_BAD);
		NEED(err.text[0]);
	}
	NEED_UNCHANGED(s, all, rev);
}

static void good_keys(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const char *const good[] = {"-", ".", "/", "0", "A", "Zz", "_", "a", "a/", "a/b/c/../d",
		"a//b", "doc", "rcpt", "z.", probe_bytes(p, STORE_KEY_MAX, 'k')};
	size_t n = sizeof(good) / sizeof(*good);

	for (size_t i = 0; i < n; i++)
		probe_put(p, s, good[i], good[i]);
	s = probe_rejoin(p, s);
	for (size_t i = 0; i < n; i++)
		NEED_VALUE(s, good[i], good[i]);
	NEED(probe_list(p, s, "", NULL, 100).n == n);
}

static void texts_alone(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const struct str bad[] = {{"a\0b", 3}, {"\0", 1}, STR("\xff"), STR("a\xc3"),
		STR("\xc0\xaf"), STR("\xed\xa0\x80"), STR("\xf4\x90\x80\x80")};
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		NEED_STATUS(TRY(s, NULL, OPS({.what = STORE_PUT, .key = "a", .value = bad[i]})),
			STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
}

static void odd_texts(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const char *const odd[] = {"", " ", "\n", "\r\n\t", "\"\\/{}[],:", "\x01\x02\x1f\x7f",
		"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xef\xbf\xbd\xef\xbf\xbf",
		"{\"commit\":1}\n"};
	size_t n = sizeof(odd) / sizeof(*odd);

	for (size_t i = 0; i < n; i++)
		probe_put(p, s, arena_printf(&p->arena, "k%zu", i), odd[i]);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < n; i++)
			NEED_VALUE(s, arena_printf(&p->arena, "k%zu", i), odd[i]);
		s = probe_rejoin(p, s);
	}
}

static void half_a_receipt(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_STATUS(TRY(s, NULL, .actor = "me", OPS(PUT("a", "2"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .opid = "op", OPS(PUT("a", "2"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = "not me", .opid = "op", OPS(PUT("a", "2"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = probe_bytes(p, STORE_KEY_MAX, 'a'), .opid = "op",
			    OPS(PUT("a", "2"))),
		STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "\xff", OPS(PUT("a", "2"))), STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
}

static void ttls(struct probe *p)
{
	static const int bad[] = {STORE_TTL_MIN_S - 1, STORE_TTL_MAX_S + 1, 0, -1};
	struct store *s = probe_join(p, STORE_WRITE);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		NEED_STATUS(probe_grant(s, 1, bad[i]), STORE_BAD);
		NEED_STATUS(probe_renew(s, 1), STORE_GONE);
		if (bad[i])
			NEED_STATUS(
				TRY(s, NULL, .lease = 1, .lease_ttl_s = bad[i], OPS(PUT("a", "1"))),
				STORE_BAD);
	}
	NEED_STATUS(probe_grant(s, 0, 60), STORE_BAD);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(probe_grant(s, 1, STORE_TTL_MIN_S), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, STORE_TTL_MAX_S), STORE_OK);
}

static void twice(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_STATUS(TRY(s, NULL, OPS(PUT("a", "2"), PUT("a", "3"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, OPS(PUT("b", "2"), PUT("c", "2"), DEL("b"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "op", OPS(PUT("rcpt/me", "2"))), STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
	COMMIT(s, GUARDS(MOD_IS("a", rev), CREATED_AT("a", rev), MOD_IS("a", rev)));
}

static void one_bad_apple(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_STATUS(TRY(s, NULL, OPS(PUT("b", "1"), DEL("a"), PUT("a b", "1"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "op", OPS(PUT("b", "1"), PUT("", "1"))),
		STORE_BAD);
	NEED_UNCHANGED(s, all, rev);
	NEED(probe_watch(p, s, "", rev + 1, 10).n == 0);
	s = probe_rejoin(p, s);
	NEED_UNCHANGED(s, all, rev);
}

const struct check limit_checks[] = {
	{"a transaction has at most 64 operations", sixty_four},
	{"a value has at most 64 KiB", long_value},
	{"a transaction has at most 512 KiB", long_txn},
	{"keys of other characters or lengths are refused", bad_keys},
	{"keys of all allowed characters and lengths are taken", good_keys},
	{"values that are no text are refused", texts_alone},
	{"values of any text come back as they were", odd_texts},
	{"a receipt needs an actor and an opid", half_a_receipt},
	{"a lease has an id and 10 s to 30 days", ttls},
	{"a key comes once in a transaction", twice},
	{"one bad operation spoils its transaction", one_bad_apple},
	{NULL, NULL},
};
