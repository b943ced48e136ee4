/* The schemas that are built in: each field of each artifact, `$schema` and versions. */
#include "tests/lib/unit.h"
#include "src/event/artifact.h"
#include "src/sys/path.h"
#include "tests/lib/scratch.h"

#define V      "{'$schema':'spec/schemas/artifacts/"
#define PLAN   V "plan.schema.json#v1','approach':'Add a function.','filesToTouch':[],"
#define IMPL   V "implementation.schema.json#v1','summary':'Added a function.',"
#define VALID  V "validation.schema.json#v1',"
#define TESTS  "'tests':{'passed':1,'failed':0}"
#define BUILD  "'build':{'status':'passed'}"
#define REVIEW V "review.schema.json#v1','verdict':'approve','summary':'All good.'"
#define PR     V "pr.schema.json#v1','branch':'b','baseSha':'0123abc','headSha':'abc0123'"
#define PR1    PR ",'number':1,'url':'https://github.com/acme/shop/pull/1'"
#define CLASS                                                                                      \
	"{'$schema':'schemas/artifacts/classifier.schema.json#v1','rationale':{},"                 \
	"'rawOutput':null,'parseError':null,'addedByRules':[],"
#define TOOK "'fellOpen':false,'fellOpenReason':null,"

static struct error err;

TEST(artifacts_are_as_section_nine_says)
{
	static const struct {
		const char *schema, *text; /* with quotes of JSON as ' */
		const char *fault;         /* NULL: it is good */
	} rows[] = {
		{"plan", PLAN "'expectedDifficulty':'low'}", NULL},
		{"plan",
			PLAN
			"'expectedDifficulty':'research','testStrategy':'','openQuestions':['a']}",
			NULL},
		{"plan", PLAN "'expectedDifficulty':'low','more':1}", "unknown key 'more'"},
		{"plan", PLAN "'expectedDifficulty':'Low'}",
			"'Low' is not one of 'trivial', 'low', 'medium', 'high', 'research'"},
		{"plan", PLAN "'openQuestions':[]}", "'expectedDifficulty' is missing"},
		{"plan",
			V "plan.schema.json#v1','approach':'short','filesToTouch':[],'"
			  "expectedDifficulty':'low'}",
			"'short' is shorter than 10 characters"},
		{"plan",
			V "plan.schema.json#v1','approach':'ten "
			  "chars!','filesToTouch':[1],'expectedDifficulty':'low'}",
			"must be a string, not 1"},
		{"plan", "{'approach':'ten chars!','filesToTouch':[],'expectedDifficulty':'low'}",
			"'$schema' is missing"},
		{"plan", "[]", "must be an object"},
		{"implementation", IMPL "'filesModified':[]}", NULL},
		{"implementation",
			IMPL "'filesModified':[{'path':'a','kind':'renamed','linesAdded':0,'"
			     "linesRemoved':3}],'commandsRun':['make'],'testsAdded':[],'"
			     "deviationsFromPlan':'none'}",
			NULL},
		{"implementation", IMPL "'commandsRun':[]}", "'filesModified' is missing"},
		{"implementation", IMPL "'filesModified':[{'path':'a'}]}", "'kind' is missing"},
		{"implementation", IMPL "'filesModified':[{'path':'a','kind':'moved'}]}",
			"'moved' is not one of 'new', 'modified', 'deleted', 'renamed'"},
		{"implementation",
			IMPL "'filesModified':[{'path':'a','kind':'new','linesAdded':-1}]}",
			"-1 is less than 0"},
		{"implementation",
			IMPL "'filesModified':[{'path':'a','kind':'new','linesAdded':1.5}]}",
			"must be a whole number, not 1.5"},
		{"implementation", IMPL "'filesModified':[{'path':'a','kind':'new','x':1}]}",
			"unknown key 'x'"},
		{"implementation",
			V
			"implementation.schema.json#v1','summary':'too short','filesModified':[]}",
			"'too short' is shorter than 10 characters"},
		{"validation", VALID TESTS "," BUILD "}", NULL},
		{"validation",
			VALID "'tests':{'passed':1,'failed':1,'skipped':2,'failures':[{'test':'t','"
			      "message':'m'}]},'build':{'status':'failed','errorOutput':'e'},'lint'"
			      ":{'status':'passed','errorCount':0,'warningCount':1},'typecheck':{'"
			      "status':'failed','errorCount':1},'manualChecks':['looked']}",
			NULL},
		{"validation", VALID TESTS "," BUILD ",'lint':{},'typecheck':{}}", NULL},
		{"validation", VALID TESTS "}", "'build' is missing"},
		{"validation", VALID BUILD "}", "'tests' is missing"},
		{"validation", VALID "'tests':{'passed':1}," BUILD "}", "'failed' is missing"},
		{"validation", VALID "'tests':{'passed':-1,'failed':0}," BUILD "}",
			"-1 is less than 0"},
		{"validation", VALID TESTS ",'build':{}}", "'status' is missing"},
		{"validation", VALID TESTS ",'build':{'status':'ok'}}",
			"'ok' is not one of 'passed', 'failed'"},
		{"validation",
			VALID "'tests':{'passed':1,'failed':1,'failures':[{'test':'t'}]}," BUILD
			      "}",
			"'message' is missing"},
		{"validation", VALID TESTS "," BUILD ",'typecheck':{'warningCount':1}}",
			"unknown key 'warningCount'"},
		{"review", REVIEW "}", NULL}, /* the reviewers may be missing */
		{"review",
			REVIEW ",'reviewer':'critic','findings':[{'severity':'minor','description':"
			       "'A typo.','file':'a','line':1,'endLine':1,'suggestion':'s'}]}",
			NULL},
		{"review", REVIEW ",'reviewer':'linter'}",
			"'linter' is not one of 'testing', 'critic', 'security'"},
		{"review", V "review.schema.json#v1','verdict':'lgtm','summary':'Fine so.'}",
			"'lgtm' is not one of 'approve', 'approve-with-suggestions', "
			"'request-changes'"},
		{"review", V "review.schema.json#v1','verdict':'approve','summary':'lgtm'}",
			"'lgtm' is shorter than 5 characters"},
		{"review", REVIEW ",'findings':[{'severity':'major'}]}",
			"'description' is missing"},
		{"review",
			REVIEW ",'findings':[{'severity':'major','description':'Wrong','line':0}]}",
			"0 is less than 1"},
		{"review", REVIEW ",'findings':[{'severity':'blocker','description':'Wrong'}]}",
			"'blocker' is not one of 'info', 'minor', 'major', 'critical'"},
		{"pr", PR1 "}", NULL},
		{"pr", PR1 ",'title':'t','draft':true,'createdAt':'2026-11-21T01:34:55.123+01:00'}",
			NULL},
		{"pr", PR ",'number':0,'url':'https://a/b'}", "0 is less than 1"},
		{"pr", PR ",'number':1,'url':'github.com/acme'}",
			"'github.com/acme' is not a valid uri"},
		{"pr", PR1 ",'createdAt':'2026-11-21'}", "'2026-11-21' is not a valid date-time"},
		{"pr", PR1 ",'draft':'no'}", "must be true or false, not 'no'"},
		{"pr",
			V "pr.schema.json#v1','number':1,'url':'https://a/"
			  "b','branch':'b','baseSha':'0123ab','headSha':'0123abc'}",
			"'0123ab' is shorter than 7 characters"},
		{"classifier", CLASS TOOK "'reviewers':[],'confident':true,'confidence':0.7}",
			NULL},
		{"classifier",
			CLASS TOOK
			"'reviewers':['critic'],'confident':true,'confidence':1,'modelOverride':{'"
			"security':'opus'},'harnessOverride':{'security':'codex'}}",
			NULL},
		{"classifier", CLASS TOOK "'reviewers':[],'confident':true,'confidence':0.69}",
			"0.69 is less than 0.7"},
		{"classifier", CLASS TOOK "'reviewers':[],'confident':false,'confidence':0.3}",
			NULL},
		{"classifier", CLASS TOOK "'reviewers':[],'confident':false,'confidence':1.1}",
			"1.1 is more than 1"},
		{"classifier",
			CLASS TOOK
			"'reviewers':['critic','critic'],'confident':false,'confidence':0}",
			"'critic' is a duplicate"},
		{"classifier",
			CLASS TOOK "'reviewers':['linter'],'confident':false,'confidence':0}",
			"'linter' is not one of 'testing', 'critic', 'security'"},
		{"classifier",
			CLASS TOOK "'reviewers':[],'confident':false,'confidence':0,'modelOverride'"
				   ":{'unknown':'opus'}}",
			"unknown key 'unknown'"},
		{"classifier",
			CLASS TOOK "'reviewers':[],'confident':false,'confidence':0,'"
				   "harnessOverride':{'security':'mystery'}}",
			"'mystery' is not one of 'claude-code', 'codex', 'gemini-cli', 'opencode', "
			"'aider', 'generic-api'"},
		{"classifier",
			CLASS "'fellOpen':true,'fellOpenReason':'parse-error','reviewers':['"
			      "testing','critic','security'],'confident':false,'confidence':0}",
			NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = arena_dup(&arena, str_of(rows[i].text));
		struct schema *s;
		struct schema_faults f;

		for (char *c = text; (c = strchr(c, '\''));)
			*c = '"';
		if (artifact_schema_compile(&arena, rows[i].schema, NULL, &s, &err) < 0 ||
			schema_check_text(&arena, s, "i", str_of(text), &f, &err) < 0)
			fail_msg("%s: %s", text, err.text);
		if (f.n != (rows[i].fault != NULL))
			fail_msg("%s: %zu faults: %s", text, f.n, f.n ? f.list[0].text : "");
		if (f.n)
			assert_string_equal(f.list[0].text, rows[i].fault);
	}
}

TEST(the_schema_that_is_meant_is_the_one_held)
{
	static const struct {
		const char *says;
		bool good; /* as a plan */
	} rows[] = {
		{"spec/schemas/artifacts/plan.schema.json#v1", true},
		{"spec/schemas/artifacts/plan.schema.json", true},
		{"schemas/artifacts/plan.schema.json#latest", true},
		{"plan.schema.json#v1", true},
		{"https://ai-sdlc.io/schemas/v1alpha1/artifacts/plan.schema.json", true},
		{"plan", true}, /* contains nothing that could be wrong */
		{"spec/schemas/artifacts/plan.schema.json#v2", false},
		{"spec/schemas/artifacts/plan.schema.json#", false},
		{"spec/schemas/artifacts/review.schema.json#v1", false},
		{"spec/schemas/artifacts/myplan.schema.json#v1", false},
		{"", false},
	};
	struct schema *s;

	assert_int_equal(artifact_schema_compile(&arena, "plan", NULL, &s, &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct schema_faults f;
		const char *text = arena_printf(&arena,
			"{\"$schema\":\"%s\",\"approach\":\"ten chars!\",\"filesToTouch\":[],"
			"\"expectedDifficulty\":\"low\"}",
			rows[i].says);

		assert_int_equal(schema_check_text(&arena, s, "i", str_of(text), &f, &err), 0);
		if ((f.n == 0) != rows[i].good)
			fail_msg("%s", rows[i].says);
	}
}

TEST(there_is_one_version)
{
	struct schema *s;

	for (const char *const *n = artifact_schema_names(); *n; n++) {
		assert_int_equal(artifact_schema_compile(&arena, *n, "v1", &s, &err), 0);
		assert_int_equal(artifact_schema_compile(&arena, *n, "latest", &s, &err), 0);
		assert_fails(artifact_schema_compile(&arena, *n, "v2", &s, &err), err, ERR_USAGE);
	}
	assert_int_equal(artifact_schema_compile(&arena, "plans", NULL, &s, &err), -1);
	assert_int_equal(artifact_schema_compile(&arena, "../plan", NULL, &s, &err), -1);
	assert_null(artifact_schema_text(&arena, "nonesuch").p);
}

SCRATCH_TEST(a_file_says_which_schema_it_asks_for)
{
	static const struct {
		const char *file, *text, *name;
	} rows[] = {
		{"x.json", "{\"$schema\":\"spec/schemas/artifacts/pr.schema.json#v1\"}", "pr"},
		{"plan.json", "{\"$schema\":\"spec/schemas/artifacts/pr.schema.json#v1\"}", "pr"},
		{"A-1/plan.json", "{}", "plan"},
		{"A-1/plan.json", "not json", "plan"},
		{"A-1/plan.json", "{\"$schema\":\"x\"}", "plan"},
		{"A-1/review/testing.json", "{}", "review"},
		{"A-1/review/classifier.json", "{}", "classifier"},
		{"art/_events.jsonl", "", "events"},
		{"A-1/runtime.json", "{}", NULL},
		{"plan.md", "", NULL},
		{"x.json", "{\"$schema\":\"a/nonesuch.schema.json\"}", NULL},
		{"x.json", "{\"$schema\":7}", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const struct artifact_schema none;
		struct artifact_checked got;

		scratch_write(rows[i].file, rows[i].text);
		(void)artifact_check(&arena, &none, at(rows[i].file), &got, &err);
		if (!got.schema != !rows[i].name ||
			(got.schema && strcmp(got.schema, rows[i].name) != 0))
			fail_msg("%s %s: %s", rows[i].file, rows[i].text,
				got.schema ? got.schema : "none");
	}
}

/* The built-in schemas are exactly the files of the directory. */
TEST(the_files_are_the_built_in_ones)
{
	for (const char *const *n = artifact_schema_names(); *n; n++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;
		const char *path = arena_printf(&arena, "schemas/artifacts/%s.schema.json", *n);

		if (strcmp(*n, "events") == 0)
			continue;
		assert_int_equal(sys_read_file(&b, path, 1 << 20, NULL, &err), 0);
		assert_true(str_eq(buf_str(&b), artifact_schema_text(&arena, *n)));
	}
}

UNIT_GROUP(NULL, arena_end)
