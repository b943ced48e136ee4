#!/usr/bin/env bash
# What must hold before anybody looks at a change: it builds without a warning, the tests pass.
set -e
cd "$(dirname "$0")/.."
make -s slug
make -s test
