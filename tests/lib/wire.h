/*
 * wire.h: the words of the wire format, which are the names of sections and keys of the document
 * and of the fields of the action array. The tests state them here, independently of the program's
 * headers: a renamed word changes this file and the few tests that prove bytes. Cases in tests/spec
 * write WIRE_NAME as $NAME.
 */
#ifndef DT_TESTS_WIRE_H
#define DT_TESTS_WIRE_H

#include "src/base/buf.h"

/* Sections of the document. Those of the fixes have a number after the word. */
#define WIRE_DEBUG_REPORT     "Debug Report"
#define WIRE_BRIEF            "Researcher Brief"
#define WIRE_COMMENTS         "Pull Request Comments"
#define WIRE_SUMMARY          "Implementation Summary"
#define WIRE_FIX              "Fix"
#define WIRE_PULL_REQUEST     "PR URL"
#define WIRE_NOTES            "Review Notes"
#define WIRE_LAST_FAILURE     "Last Failure"
#define WIRE_VALIDATION       "Validate Result"
#define WIRE_SIGNOFF_REVIEW   "Signoff Review"
#define WIRE_SIGNOFF_RESEARCH "Signoff Research"
#define WIRE_SIGNOFF_BUILD    "Signoff Build Result"
#define WIRE_TROUBLE_LOG      "Troubleshooter Log"

/* A section of a document, as a literal. */
#define SECTION(name, text) "\n<!-- section:" name " -->\n\n" text "\n"

/* Counters in the frontmatter. The last is a trigger of the troubleshooter too. */
#define WIRE_FIXES        "fix_iteration"
#define WIRE_REVIEW_FIXES "review_fix_iteration"
#define WIRE_REVIEWS      "review_cycle_count"
#define WIRE_SIGNOFFS     "signoff_cycle_count"
#define WIRE_FAILURES     "consecutive_failures"

/* Other keys of the frontmatter. */
#define WIRE_ITEM_KEY         "work_item_id"
#define WIRE_SPEC_KEY         "spec_path"
#define WIRE_PULL_REQUEST_KEY "pr_url"
#define WIRE_INPUT_KEY        "troubleshooter_input"

/* Kinds and fields of actions. */
#define WIRE_AGENT_ACTION  "spawn_agent"
#define WIRE_SCRIPT_ACTION "run_script"
#define WIRE_READS         "read_sections"
#define WIRE_WRITES        "write_section"
#define WIRE_FORMAT        "result_format"

/* Adds `text` with the words in place of their names ($BRIEF); other names stay. */
void wire_expand(struct buf *out, struct str text);

#endif
