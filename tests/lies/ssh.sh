#!/bin/sh
# Stands in for `ssh`: runs git's command here, on the repositories below FORGE.
for command; do :; done
cd "$FORGE" && eval "exec git ${command#git-}"
