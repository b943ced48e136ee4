/* Programs that look at files as such, and make, move and remove them. */
#include "src/policy/bin.h"

const struct binary binaries_files[] = {
	{"ls",
		"-a,--all -A,--almost-all --author -b,--escape --block-size:text "
		"-B,--ignore-backups "
		"-c -C --color?word{always,auto,never} -d,--directory -D,--dired -f "
		"-F,--classify?word{always,auto,never} --file-type --format:name --full-time -g "
		"--group-directories-first -G,--no-group -h,--human-readable --si --hide:text "
		"--hyperlink?word{always,auto,never} --indicator-style:name -i,--inode "
		"-I,--ignore:text -k,--kibibytes -l -m -n,--numeric-uid-gid -N,--literal -o -p "
		"-q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style:name "
		"-r,--reverse -R,--recursive -s,--size -S --sort:name --time:name "
		"--time-style:text "
		"-t -T,--tabsize:number -u -U -v -w,--width:number -x -X -Z,--context --zero -1",
		"read*", 0, NULL},
	{"tree",
		"-a -d -f -i -s -h -p -u -g -D -F -n -C -x -q -N -Q -r -t -v -U -J -X -L:number "
		"-P:text -I:text -o:write --dirsfirst --filesfirst --noreport --prune --si --du "
		"--gitignore --charset:name --filelimit:number --sort:name --inodes --device",
		"read*", 0, NULL},
	{"find", NULL, NULL, 0, check_find},
	{"stat", "-f,--file-system -c,--format:text --printf:text -t,--terse --cached:name",
		"read*", 0, NULL},
	{"file",
		"-b,--brief -i,--mime --mime-type --mime-encoding -0,--print0 -F,--separator:text "
		"-h,--no-dereference -k,--keep-going -r,--raw -N,--no-pad --extension -s "
		"-e,--exclude:name -n,--no-buffer",
		"read*", 0, NULL},
	{"du",
		"-0,--null -a,--all --apparent-size -B,--block-size:number -b,--bytes -c,--total "
		"-d,--max-depth:number -h,--human-readable --inodes -k -l,--count-links -m "
		"-P,--no-dereference -S,--separate-dirs --si -s,--summarize -t,--threshold:number "
		"--time?name --time-style:text -X,--exclude-from:read --exclude:text "
		"-x,--one-file-system",
		"read*", 0, NULL},
	{"df",
		"-a,--all -B,--block-size:number -h,--human-readable -H,--si -i,--inodes -k "
		"-l,--local -P,--portability -T,--print-type --total",
		"read*", 0, NULL},
	{"realpath",
		"-e,--canonicalize-existing -m,--canonicalize-missing -L,--logical -P,--physical "
		"-q,--quiet --relative-to:read --relative-base:read -s,--strip,--no-symlinks "
		"-z,--zero",
		"read*", 0, NULL},
	{"readlink",
		"-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing "
		"-n,--no-newline -q,--quiet -s,--silent -v,--verbose -z,--zero",
		"read*", 0, NULL},
	{"mkdir", "-m,--mode:mode -p,--parents -v,--verbose", "write*", 0, NULL},
	{"rmdir", "--ignore-fail-on-non-empty -v,--verbose", "entry*", 0, NULL},
	{"rm",
		"-f,--force -i -I --interactive?word{never,no,none,once,always,yes} "
		"--one-file-system --preserve-root?word{all} -r,-R,--recursive -d,--dir "
		"-v,--verbose",
		"entry*", 0, NULL},
	{"unlink", "", "entry", 0, NULL},
	{"touch",
		"-a -c,--no-create -d,--date:text -f -h,--no-dereference -m -r,--reference:read "
		"-t:text --time:name",
		"write*", 0, NULL},
	{"truncate", "-c,--no-create -o,--io-blocks -r,--reference:read -s,--size:text", "write*",
		0, NULL},
	{"mktemp", "-d,--directory -u,--dry-run -q,--quiet --suffix:name -p:folder --tmpdir?folder",
		"write", 0, NULL},
	{"cp", NULL, NULL, 0, check_copy},
	{"mv", NULL, NULL, 0, check_move},
	{"install", NULL, NULL, 0, check_install},
	{"ln", NULL, NULL, 0, check_link},
	{"chmod", NULL, NULL, 0, check_chmod},
	{"tar", NULL, NULL, 0, check_tar},
	{NULL, NULL, NULL, 0, NULL},
};
