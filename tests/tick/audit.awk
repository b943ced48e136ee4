# Audits what tests/days has played. Shares nothing with the program: it reads what the scripted agents have noted (`played`), the
# events, and the end: documents, completed tasks, pull requests, task files. Prints TAP.
function tap(good, text) { n++; print (good ? "ok " : "not ok ") n " - " text }
function fault(kind, text) { if (faults[kind]++ < 5) print "# " kind ": " text }
function task_of(action) { return substr(action, 1, index(action, "/") - 1) }
function field(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : "" }

FILENAME ~ /\/played$/ {
	lines++
	what[lines] = $1; run[lines] = $2; of[lines] = $3; time[lines] = $4; events[lines] = $5
	next
}
FILENAME ~ /_events\.jsonl$/ {
	type = field("type"); id = field("issueId")
	count[type]++
	has[type, id]++
	if (type == "OrchestratorTaskParked") { parked[id] = parked[id] " " FNR; park++ }
	if (type == "OrchestratorTaskReleased") released[id] = released[id] " " FNR
	next
}
FILENAME ~ /\/documents$/ { state[$2] = $3; documents++; if ($4 != 0) fault("history", $2 " does not agree"); next }
FILENAME ~ /\/completed$/ { done[$2] = 1; completed++; next }
FILENAME ~ /\/pulls$/ { pulls++; if (pull[$2]++) fault("twice", "a second pull request of " $2); next }
FNR == 1 { id = "" }
/^id: / { id = $2; task[id] = 1 }
/^  - / { needs[id] = needs[id] " " $2 }

# Whether the task is parked when so many events were written, as the last word.
function is_parked(id, at, i, list, m, last) {
	last = 0
	m = split(parked[id], list, " ")
	for (i = 1; i <= m; i++) if (list[i] + 0 <= at && list[i] + 0 > last) last = list[i] + 0
	m = split(released[id], list, " ")
	for (i = 1; i <= m; i++) if (list[i] + 0 > last && list[i] + 0 <= at) last = 0
	return last && (!(id in retried) || retried[id] < last)
}

function play(i,   action, id, k, busy) {
	action = of[i]; id = task_of(action)
	if (action in answered) fault("twice", action " is played again in run " run[i] " after its answer")
	if (begun[action] == run[i]) fault("twice", action " is played twice in run " run[i])
	begun[action] = run[i]
	working[id]++
	for (k in working) busy += working[k] > 0
	if (busy > slots) fault("slots", busy " tasks at once: " action)
	if (busy > most) most = busy
	if (is_parked(id, events[i])) fault("parked", action " is played while " id " is parked")
	if (id in until && time[i] < until[id]) fault("limits", action " is played at " time[i] ", before " until[id])
	plays++
}

# Why the task has not been completed is known: it is parked, or a task that it needs is.
function is_known(id,   i, m, list) {
	if (done[id] || has["OrchestratorTaskParked", id]) return 1
	if (id in asked) return 0
	asked[id] = 1
	m = split(needs[id], list, " ")
	for (i = 1; i <= m; i++) if (!done[list[i]] && is_known(list[i])) return 1
	return 0
}

END {
	for (i = 1; i <= lines; i++) {
		if (what[i] == "run") delete working
		else if (what[i] == "begin") play(i)
		else if (what[i] == "end") working[task_of(of[i])]--
		else if (what[i] == "answered") answered[of[i]] = 1
		else if (what[i] == "limit") { until[task_of(of[i])] = time[i]; limits++ }
		else if (what[i] == "retry") { retried[of[i]] = events[i] + 0; retries++ }
		else if (what[i] == "answer") answers++
	}
	for (id in task) {
		if (!is_known(id)) fault("forgotten", id " is neither completed nor parked: " (id in state ? state[id] : "it was not started"))
		if (done[id] && !has["OrchestratorDispatched", id]) fault("forgotten", id " has no OrchestratorDispatched")
		if (done[id] && !has["OrchestratorCompleted", id]) fault("forgotten", id " has no OrchestratorCompleted")
		if (done[id] && !pull["dev-team/" id]) fault("forgotten", id " has no pull request")
		named++
	}
	tap(named == tasks && plays > tasks * 5 && park > 0 && limits > 0 && retries > 0 && answers > 0 && count["OrchestratorRecovered"] > 0 && count["Requeue"] > 0,
		named " tasks, " plays " plays of agents, " park " parked, " limits " limits, " retries " retries, " answers " questions, " count["OrchestratorRecovered"] + 0 " remedies, " count["Requeue"] + 0 " pull requests came back")
	tap(!faults["twice"], "nothing ran twice: " faults["twice"] + 0)
	tap(!faults["forgotten"], "nothing is forgotten: " completed + 0 " completed, " faults["forgotten"] + 0 " forgotten")
	tap(!faults["slots"] && most > 1, "at most " most " of " slots " slots were taken")
	tap(!faults["parked"], "no parked task held a slot: " faults["parked"] + 0)
	tap(!faults["limits"], "no limit was broken: " faults["limits"] + 0)
	tap(!faults["history"], "the histories agree")
	print "# figures: " days " days, " tasks " tasks, " kills " kills, " plays " plays of agents: " faults["twice"] + 0 " twice, " faults["forgotten"] + 0 " forgotten"
	print "1.." n
}
