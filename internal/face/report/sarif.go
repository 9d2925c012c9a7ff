package report

import (
	"net/url"
	"path"
	"path/filepath"

	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
)

// object is an object of JSON.
type object = map[string]any

// Unread is a file that lint could not read, and why.
type Unread struct{ File, Why string }

// sarifLevel is a severity in SARIF's words.
func sarifLevel(s lint.Severity) string {
	return map[lint.Severity]string{lint.SevereError: "error", lint.SevereWarning: "warning", lint.SevereHint: "note"}[s]
}

// LintSARIF is the log of checks, and of files that could not be read, in the form 2.1.0 of OASIS, which code hosts show beside the lines.
func LintSARIF(version string, all []*lint.Response, unread []Unread) any {
	driver := object{"name": "plimsoll", "version": version}
	index, rules := map[string]int{}, []object{}
	for i, r := range lint.Rules() {
		index[r.Code] = i
		rules = append(rules, object{
			"id": r.Code, "name": r.Name, "shortDescription": object{"text": r.Title}, "fullDescription": object{"text": r.Why},
			"help":                 object{"text": r.Why + " " + r.Mend, "markdown": r.Why + "\n\n" + r.Mend},
			"defaultConfiguration": object{"level": sarifLevel(r.Severity)},
		})
	}
	driver["rules"] = rules
	done := object{"executionSuccessful": true}
	if len(unread) > 0 {
		var notes []object
		for _, u := range unread {
			notes = append(notes, object{"level": "note", "message": object{"text": u.Why}, "locations": sarifAt(u.File, 0)})
		}
		done["toolExecutionNotifications"] = notes
	}
	results := []object{}
	for _, r := range all {
		for i := range r.Findings {
			f := &r.Findings[i]
			text := found(f)
			if f.Better != "" {
				text += ". Better: " + f.Better
			}
			results = append(results, object{
				"ruleId": f.Code, "ruleIndex": index[f.Code], "level": sarifLevel(f.Severity), "message": object{"text": text}, "locations": sarifAt(f.File, f.Line),
			})
		}
	}
	run := object{"tool": object{"driver": driver}, "columnKind": "utf16CodeUnits", "invocations": []object{done}, "results": results}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}}
}

// sarifAt is a line of a file; none for a command.
func sarifAt(file string, line int) []object {
	if file == "" || file == "-" {
		return []object{}
	}
	uri := (&url.URL{Path: path.Clean(filepath.ToSlash(file))}).EscapedPath()
	return []object{{"physicalLocation": object{"artifactLocation": object{"uri": uri}, "region": object{"startLine": max(1, line)}}}}
}
