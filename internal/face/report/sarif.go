package report

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
)

// SARIF is a log of findings in the form 2.1.0 of OASIS, which code hosts show beside the lines.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	ColumnKind  string            `json:"columnKind"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Short   sarifText `json:"shortDescription"`
	Full    sarifText `json:"fullDescription"`
	Help    sarifText `json:"help"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifResult struct {
	Rule      string          `json:"ruleId"`
	Index     int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
}

// Unread is a file that lint could not read, and why.
type Unread struct {
	File string `json:"file"`
	Why  string `json:"error"`
}

// sarifLevel is a severity in SARIF's words.
func sarifLevel(s lint.Severity) string {
	return map[lint.Severity]string{lint.SevereError: "error", lint.SevereWarning: "warning", lint.SevereHint: "note"}[s]
}

// LintSARIF is the log of checks, and of files that could not be read.
func LintSARIF(version string, all []*lint.Response, unread []Unread) *SARIF {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}}
	driver := &run.Tool.Driver
	driver.Name, driver.Version = "plimsoll", version
	index := map[string]int{}
	for i, r := range lint.Rules() {
		index[r.Code] = i
		rule := sarifRule{
			ID: r.Code, Name: r.Name, Short: sarifText{Text: r.Title}, Full: sarifText{Text: r.Why},
			Help: sarifText{Text: r.Why + " " + r.Mend, Markdown: r.Why + "\n\n" + r.Mend},
		}
		rule.Default.Level = sarifLevel(r.Severity)
		driver.Rules = append(driver.Rules, rule)
	}
	done := sarifInvocation{Successful: true}
	for _, u := range unread {
		done.Notifications = append(done.Notifications, sarifNotification{Level: "note", Message: sarifText{Text: u.Why}, Locations: sarifAt(u.File, 0)})
	}
	run.Invocations = []sarifInvocation{done}
	for _, r := range all {
		for i := range r.Findings {
			f := &r.Findings[i]
			text := f.What
			if f.Where != "" && !strings.HasPrefix(text, f.Where+" ") {
				text = f.Where + ": " + text
			}
			if f.Better != "" {
				text += ". Better: " + f.Better
			}
			run.Results = append(run.Results, sarifResult{f.Code, index[f.Code], sarifLevel(f.Severity), sarifText{Text: text}, sarifAt(f.File, f.Line)})
		}
	}
	return &SARIF{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// sarifAt is a line of a file; none for a command.
func sarifAt(file string, line int) []sarifLocation {
	if file == "" || file == "-" {
		return []sarifLocation{}
	}
	var at sarifLocation
	at.Physical.Artifact.URI = (&url.URL{Path: path.Clean(filepath.ToSlash(file))}).EscapedPath()
	at.Physical.Region = &sarifRegion{max(1, line)}
	return []sarifLocation{at}
}
