package wizard

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Text is all text of the dialogue in one language.
type Text struct {
	Questions map[ID]Asked

	Intro, Legend, LegendForm        string
	Unsure, Suggestion, NoSuggestion string
	FirstQuestion, NeedAnswer        string
	NoChoice, NoChoiceNear           string
	WantCount, WantMs, WantSize      string
	NoRoom, NoRoomAtAll              string
	WantShare, WantShares            string
	NoModel, NoModelNear, NotAnyMore string
	BackWord, ChangeWord, QuitWord   string
	ChangeTitle, SaveTitle, SaveHelp string
	WhySaveName, SavedTo, SaveFailed string
	CommandTitle, ParametersTitle    string
	ChecksTitle, AssumptionsTitle    string
	ConfirmTitle, NextTitle          string
	Running, NothingRun              string

	// The actions of confirm.go.
	Actions map[string]string
	// Origins by [Origin], each with a verb for its Why.
	Origins [6]string

	WhyDomain, WhyAggregation, WhyPhases, WhyBothPhases string
	WhyBothLimits, WhyHalf, WhyFullHD, WhyNarrow        string
	WhyOff, WhyModules, WhyOneToken                     string
	WhyRecommended, WhyCompile                          string
	WhyCheckpoint, WhyFP8, WhyWide, WhyMemory           string
	AdviseHitRate, AdviseSupport                        string

	Accepted, Problem, SharedCount, BothPhases string
	TooFew, HasMTP, NoMTP, Chunks              string
	AssumedValue, FixedLengths, TextOnly       string
	NoMTPUsed, ComparesEngines                 string

	Executed, Best, Mode, Parallel, Batch, Concurrency  string
	Throughput, TTFT, TPOT, Tokens                      string
	Aggregated, Disaggregated, Prefill, Decode, Matched string
	Format, Own, Formats, Chance, Requests              string
	Across, Top, Row, NoRow, NoneMeets                  string
	RatioTitle, RatioLine, PhaseLine, Instances         string
	Caution, Depends                                    string

	Failed, Kind, Important, Correction          string
	Invalid, Environment, Assumption, Infeasible string
	FixInvalid, FixEnvironment, FixAssumption    string
	FixLimit, FixMemory, FixSizes                string

	// Messages translate the messages of checks: a regular expression, and what to say in its place. Other says one that is
	// not translated.
	Messages [][2]string
	Other    string
	// Phrases translate parts of deployments and of progress, all that match, one after the other.
	Phrases [][2]string
}

// Phrase is a deployment in words, or how far a search is, in the language.
func (t *Text) Phrase(text string) string {
	for _, p := range t.Phrases {
		text = regexp.MustCompile(p[0]).ReplaceAllString(text, p[1])
	}
	return text
}

// translate is a message of a check in the language. One that begins with the name of what it is about is translated behind it.
func (t *Text) translate(message string) string {
	if out, ok := t.message(message); ok {
		return out
	}
	if name, rest, ok := strings.Cut(message, ": "); ok {
		if out, ok := t.message(rest); ok {
			return name + "：" + out
		}
	}
	return fmt.Sprintf(t.Other, message)
}

// message is a translation of Messages.
func (t *Text) message(message string) (string, bool) {
	for _, m := range t.Messages {
		if re := regexp.MustCompile(m[0]); re.MatchString(message) {
			return re.ReplaceAllString(message, m[1]), true
		}
	}
	return "", false
}

// translated is an error in the language, nil for none.
func (t *Text) translated(err error) error {
	if err == nil {
		return nil
	}
	var out []string
	for e := range strings.SplitSeq(err.Error(), "\n") {
		out = append(out, t.translate(e))
	}
	return errors.New(strings.Join(out, "\n"))
}

// Asked is the text of a question.
type Asked struct {
	Title, Help string
	// Choices are the choices in words, About what each of them means.
	Choices map[string]string
	About   map[string]string
}

// Lang is a language.
type Lang string

// The languages.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

//go:embed text
var texts embed.FS

// Say returns the text of a language.
func (l Lang) Say() *Text {
	if l != Chinese {
		l = English
	}
	t := &Text{Caution: opssession.Caution, Depends: opssession.Depends}
	data, err := texts.ReadFile("text/" + string(l) + ".json")
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	if err != nil {
		panic("wizard: " + err.Error()) // the file is embedded
	}
	return t
}

// FromLocale is the language of a locale such as zh_CN.UTF-8: the first one set of LC_ALL, LC_MESSAGES and LANG.
func FromLocale(getenv func(string) string) Lang {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := getenv(name); locale != "" {
			if strings.HasPrefix(strings.ToLower(locale), string(Chinese)) {
				return Chinese
			}
			return English
		}
	}
	return English
}

// source describes the source of a value.
func (t *Text) source(s Source) string {
	form := t.Origins[s.Origin]
	if !strings.Contains(form, "%s") {
		return form
	}
	return fmt.Sprintf(form, s.Why)
}

// value is an answer in words: a choice as it is shown, a text as it is.
func (t *Text) value(q *Question, value string) string {
	if words, ok := t.Questions[q.ID].Choices[value]; ok && q.Choices != nil {
		return words
	}
	return value
}
