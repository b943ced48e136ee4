#!/bin/sh
# Each line: a title, and what its slug must be.
bad=0
check() {
	got=$(./slug "$1")
	[ "$got" = "$2" ] || { echo "FAIL: slug '$1' prints '$got', not '$2'"; bad=1; }
}
check 'Hello' 'hello'
check 'Hello, World!' 'hello-world'
check '  10 ways to -- begin' '10-ways-to-begin'
[ $bad = 0 ] && echo 'all tests pass'
exit $bad
