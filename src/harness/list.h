/* The harnesses, in the order of the table in docs/harness.md. See adapter.h. */
HARNESS(claude_code)
HARNESS(codex)
HARNESS(gemini_cli)
HARNESS(opencode)
HARNESS(aider)
HARNESS(generic_api)
