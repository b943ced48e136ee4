/*
 * Interpreters and the tools of languages: files of the repository only.
 */
#include "tests/unit/programs_rig.h"

static const char *const allowed[] = {
	"python3 x.py --flag value",
	"python3 -m pytest -q sub",
	"python3 -m unittest discover",
	"python3 --version",
	"python3 -m pytest -x -k foo sub/test_x.py",
	"node x.js",
	"node --test",
	"npm test",
	"npm run build",
	"npm run build -- --watch",
	"npm ci",
	"npm install lodash",
	"npm install --save-dev @types/node",
	"cargo build --release",
	"cargo test -p foo -- --nocapture",
	"cargo clippy --all-targets",
	"go build ./...",
	"go test -run TestX -v ./pkg",
	"go vet ./...",
	"pytest -q sub",
	"pytest -x -k 'foo and not bar' sub/test_a.py",
	"python3 -m unittest -v",
	"python3 -m py_compile x.py",
};

static const struct denied denied[] = {
	{"python3 -c 'import os'", "option"},
	{"python3 -", "operand"},
	{"python3", "operand"},
	{"python3 -m http.server", "operand"},
	{"python3 -m pip install x", "operand"},
	{"python3 -i x.py", "option"},
	{"python3 ../x.py", "path.outside"},
	{"python3 /tmp/x.py", "path.outside"},
	{"python3 -X importtime x.py", "option"},
	{"python3 -m pytest -p x", "option"},
	{"python3 -m pytest --rootdir=/", "path.outside"},
	{"python3 -m pytest ../x", "path.outside"},
	{"python3 -Bc 'import os'", "option"},
	{"python3 -W ignore -c x", "option"},
	{"node -e 1", "option"},
	{"node -p 1", "option"},
	{"node --eval 1", "option"},
	{"node -r ./x y.js", "option"},
	{"node --require ./x y.js", "option"},
	{"node --import ./x y.js", "option"},
	{"node ../x.js", "path.outside"},
	{"node", "operand"},
	{"node -", "operand"},
	{"node --inspect x.js", "option"},
	{"npm exec x", "operand"},
	{"npm x y", "operand"},
	{"npm install ../x", "operand"},
	{"npm config set x y", "operand"},
	{"npm run x --script-shell=./x", "option"},
	{"npm run --prefix=.. x", "path.outside"},
	{"npm --userconfig=x test", "option"},
	{"npm init x", "operand"},
	{"npm publish", "operand"},
	{"npm explore x", "operand"},
	{"cargo --config x=y build", "option"},
	{"cargo build --config 'build.rustc=\"./x\"'", "option"},
	{"cargo install x", "operand"},
	{"cargo build --manifest-path ../Cargo.toml", "path.outside"},
	{"cargo build --target-dir /tmp/x", "path.outside"},
	{"cargo +nightly build", "operand"},
	{"cargo publish", "operand"},
	{"cargo build -Z x", "option"},
	{"go build -toolexec ./x .", "option"},
	{"go test -exec ./x .", "option"},
	{"go run -exec ./x .", "option"},
	{"go get x", "operand"},
	{"go build -o ../x .", "path.outside"},
	{"go vet -vettool=./x", "option"},
	{"go env -w X=y", "option"},
	{"go generate ../x", "path.outside"},
	{"go tool x", "operand"},
	{"go install x", "operand"},
	{"pytest -p x", "option"},
	{"pytest -c /etc/x", "option"},
	{"pytest --rootdir=..", "path.outside"},
	{"pytest ../x", "path.outside"},
	{"pytest --junitxml=/etc/x", "path.outside"},
	{"pytest -o addopts=x", "option"},
	{"pytest --override-ini=x=y", "option"},
	{"python3 -m pylint --init-hook=x src", "operand"},
	{"python3 -m ruff check --output-file=/x", "operand"},
	{"python3 -m mypy --python-executable=/x src", "operand"},
	{"python3 -m unittest -s/etc", "path.outside"},
	{"python3 -m unittest -s ..", "path.outside"},
};

static void lets_through(void **state)
{
	(void)state;
	programs_allowed(allowed, COUNT(allowed));
}

static void stops(void **state)
{
	(void)state;
	programs_denied(denied, COUNT(denied));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_through),
		cmocka_unit_test(stops),
	};

	return cmocka_run_group_tests(tests, programs_make, rig_remove);
}
