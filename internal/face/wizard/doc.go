// Package wizard asks a person at a terminal for what a plan needs, one question at a time, shows the command that
// follows, and runs it once that is confirmed.
//
// In: answers that are known already (flags, a file), streams, and functions that run a request. Out: an
// [app.OptimizeRequest] or an [app.PlanRequest] for those functions, and a short account of what they found. It does not
// know how anything is computed, nor flags as the command line parses them: a command line is text that it was given.
//
// Which question is next follows from the answers alone: start at [Questions] and [Session]. Drawing is apart from that:
// form.go draws with charm.land/huh, plain.go line by line for terminals that cannot. Everything said is in [Text], once
// per language.
package wizard
