/*
 * A manifest with every key, broken at each of them: the key removed, its value of another type, an
 * unknown key beside it. Each fault names the key at a place of the file, in JSON as in YAML.
 */
#include "src/base/json.h"
#include "src/graph/manifest.h"
#include "tests/lib/scratch.h"
#include "tests/lib/tree.h"

static struct error err;

static const char whole[] =
	"{\"apiVersion\":\"dev-team/v1\",\"kind\":\"AgentManifest\",\"metadata\":{\"name\":\"m\"},"
	"\"spec\":{\"personas\":[{\"name\":\"lead\",\"systemPrompt\":\"{{team}} {{task}}\","
	"\"model\":\"opus\",\"tools\":[\"Read\"],\"role\":\"developer\",\"skill\":\"s\","
	"\"subscribes\":[\"changed\"]},{\"name\":\"w\",\"systemPrompt\":\"Work.\"}],"
	"\"relationships\":[{\"parent\":\"lead\",\"child\":\"w\",\"maxDepth\":1,\"maxChildren\":2}]"
	",\"topology\":{\"maxDepth\":3,\"maxRetries\":4,\"blocks\":[{\"name\":\"all\",\"kind\":"
	"\"parallel\"},{\"name\":\"h\",\"kind\":\"hierarchical\",\"within\":\"all\",\"maxRetries\":"
	"1}]},\"events\":[{\"name\":\"changed\",\"payload\":[{\"name\":\"path\",\"type\":\"text\"}]"
	"}],\"variables\":[{\"name\":\"team\",\"value\":\"t\"}],\"entry\":\"a\",\"nodes\":[{\"id\":"
	"\"a\",\"persona\":\"lead\",\"task\":\"x\",\"reads\":[\"Spec\"],\"maxRetries\":1,"
	"\"evidence\":[\"work\"]},{\"id\":\"b\",\"persona\":\"w\",\"block\":\"h\",\"worktree\":"
	"true}"
	",{\"id\":\"c\",\"command\":\"true\",\"block\":\"all\",\"timeout\":9},{\"id\":\"d\","
	"\"merge\":\"b\",\"resolver\":\"w\",\"join\":\"any\"},{\"id\":\"e\",\"close\":true},"
	"{\"id\":\"f\",\"workflow\":\"tdd\"}],\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"event\":"
	"\"changed\"},{\"from\":\"a\",\"to\":\"c\",\"when\":[{\"type\":\"state_flag\",\"flag\":"
	"\"y\""
	",\"is\":false},{\"type\":\"history_has_event\",\"event\":\"changed\"},{\"type\":"
	"\"file_exists\",\"path\":\"p\"},{\"type\":\"always\"}],\"match\":\"any\"},{\"from\":\"b\","
	"\"to\":\"d\",\"on\":\"always\"},{\"from\":\"c\",\"to\":\"d\"},{\"from\":\"d\",\"to\":"
	"\"e\"},{\"from\":\"e\",\"to\":\"f\"}],\"policy\":\"build\",\"securityViolation\":"
	"\"hard_abort\",\"maxActions\":100}}";

/* Its faults as a file of that name. */
static const char *faults_of(const char *name, const json *m)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;
	size_t n = 0, lines = 0;

	json_print(&text, m);
	if (manifest_check_text(&arena, name, buf_str(&text), &out, &n, &err) < 0)
		fail_msg("%s: %s", err.text, text.s);
	for (size_t i = 0; i < out.len; i++)
		lines += out.s[i] == '\n';
	assert_int_equal(lines, n);
	return out.len ? arena_dup(&arena, buf_str(&out)) : "";
}

/* `m.json:1:20: TEXT`, each line. JSON is YAML: as `m.yaml` it has the same faults. */
static const char *check_both(const json *m)
{
	const char *faults = faults_of("m.json", m), *other = faults_of("m.yaml", m);
	struct str rest = str_of(faults), line;

	while (str_line(&rest, &line))
		if (!str_starts(line, "m.json:1:"))
			fail_msg("no place: %s", faults);
	for (const char *at = other; (at = strstr(at, "m.yaml:"));)
		memcpy((char *)(uintptr_t)at, "m.json:", strlen("m.json:"));
	assert_string_equal(other, faults);
	return faults;
}

static void check_named(const json *m, const char *key, const char *how)
{
	const char *faults = check_both(m);

	if (!strstr(faults, arena_printf(&arena, "'%s'", key)))
		fail_msg("'%s' %s: %s", key, how, *faults ? faults : "no fault");
}

/* A value that no key accepts instead of this one. */
static json *other_type(const json *value)
{
	return json_is_object(value) || json_is_array(value) ? json_string(STR("?")) : json_array();
}

struct broken {
	json *whole;
	size_t n;
};

static void break_key(struct broken *b, json *map, const char *key)
{
	json *value = json_copy(json_get(map, key)), *null = NULL;

	json_set(map, key, other_type(value));
	check_named(b->whole, key, "has another type");
	assert_int_equal(json_parse(&null, STR("null"), &err), 0);
	json_set(map, key, null);
	check_named(b->whole, key, "is null");
	json_drop(map, key);
	(void)check_both(b->whole);
	json_set(map, key, value);
	b->n++;
}

static void break_all(struct broken *b, json *at)
{
	CLEANUP(json_free) json *keys = json_copy(at);

	for (const json *m = json_first(keys); m; m = json_next(m)) {
		const char *key = json_is_object(at) ? json_key(m) : NULL;

		if (key)
			break_key(b, at, key);
	}
	if (json_is_object(at)) {
		json_put_str(at, "zzz", STR("x"));
		check_named(b->whole, "zzz", "is unknown");
		json_drop(at, "zzz");
	}
	for (const json *m = json_first(at); m; m = json_next(m))
		if (json_is_object(m) || json_is_array(m))
			break_all(b, (json *)m);
}

TEST(a_manifest_is_broken_at_every_key)
{
	CLEANUP(json_free) json *m = NULL;
	struct broken b = {0};

	assert_int_equal(json_parse(&m, str_of(whole), &err), 0);
	assert_string_equal(faults_of("m.json", m), "");
	b.whole = m;
	break_all(&b, m);
	assert_true(b.n > 80);
	assert_string_equal(faults_of("m.json", m), "");
}

/* YAML has no types: there a number may be in quotes. */
TEST(a_number_in_quotes_is_a_text_in_json)
{
	static const struct {
		const char *path[3], *value;
	} rows[] = {
		{{"spec", "maxActions", NULL}, "100"}, {{"spec", "topology", "maxRetries"}, "4"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(json_free) json *m = NULL;
		size_t last = rows[i].path[2] ? 2 : 1;
		json *at;

		assert_int_equal(json_parse(&m, str_of(whole), &err), 0);
		at = m;
		for (size_t k = 0; k < last; k++)
			at = (json *)json_get(at, rows[i].path[k]);
		json_set(at, rows[i].path[last], json_string(str_of(rows[i].value)));
		assert_string_equal(faults_of("m.yaml", m), "");
		assert_non_null(strstr(faults_of("m.json", m), "not the text"));
	}
}
