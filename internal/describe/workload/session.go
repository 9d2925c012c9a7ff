package workload

import (
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Session is a conversation with a model: each prompt is the conversation so
// far plus a new message. Its requests follow each other.
type Session struct {
	// System is the length of the system prompt, shared by all sessions of a workload.
	System int `json:"system,omitempty" minimum:"0" maximum:"100000000"`
	// Turns is the maximum number of requests in a session, MinTurns the minimum (0 = Turns); numbers are uniform in between.
	Turns    int `json:"turns" required:"true" minimum:"1" maximum:"16384"`
	MinTurns int `json:"min_turns,omitempty" minimum:"0" maximum:"16384"`
	// First is the length of the first message, User that of every later one: a user's message or the
	// results of tools. Output is the length of an answer, which is part of all later prompts.
	First  int `json:"first" required:"true" minimum:"1" maximum:"100000000"`
	User   int `json:"user,omitempty" minimum:"0" maximum:"100000000"`
	Output int `json:"output" required:"true" minimum:"1" maximum:"100000000"`
	// LengthLow is the shortest length as a share of the longest; lengths are uniform in between; 0 = 1.
	LengthLow float64 `json:"length_ratio_low,omitempty" minimum:"0" maximum:"1"`
	// Think is the mean time from an answer to the next request, in seconds, exponentially distributed.
	Think units.Seconds `json:"think_s,omitempty" minimum:"0" maximum:"1000000"`
}

// maxTurns is far beyond the longest sessions of agents.
const maxTurns = 1 << 14

// Check reports all mistakes of a session.
func (s *Session) Check() error {
	var errs []error
	within := func(name string, value, least, most int) {
		if value < least || value > most {
			errs = append(errs, fmt.Errorf("session: %s must be between %d and %d, got %d", name, least, most, value))
		}
	}
	within("system", s.System, 0, maxLength)
	within("turns", s.Turns, 1, maxTurns)
	within("first", s.First, 1, maxLength)
	within("output", s.Output, 1, maxLength)
	if s.Turns > 1 {
		within("user", s.User, 1, maxLength)
	}
	if s.MinTurns != 0 {
		within("the fewest turns", s.MinTurns, 1, max(1, s.Turns))
	}
	if !(s.LengthLow >= 0 && s.LengthLow <= 1) {
		errs = append(errs, fmt.Errorf("session: the shortest length must be a share above 0 and at most 1, got %g", s.LengthLow))
	}
	if !(s.Think >= 0) || math.IsInf(float64(s.Think), 1) {
		errs = append(errs, fmt.Errorf("session: the time to think must be at least 0 s and finite, got %g", float64(s.Think)))
	}
	if errs == nil {
		within("the tokens of the last turn", s.Longest(), 1, maxLength)
	}
	return errors.Join(errs...)
}

// Least is the fewest turns.
func (s *Session) Least() int {
	if s.MinTurns == 0 {
		return s.Turns
	}
	return s.MinTurns
}

// MeanTurns is the mean number of turns.
func (s *Session) MeanTurns() float64 { return float64(s.Turns+s.Least()) / 2 }

// Longest is the tokens of the last prompt and its answer in the longest session.
func (s *Session) Longest() int {
	return s.System + s.First + (s.Turns-1)*(s.User+s.Output) + s.Output
}

// mean is that of a length drawn.
func (s *Session) mean(tokens int) float64 {
	low := s.LengthLow
	if low == 0 {
		low = 1
	}
	return float64(tokens) * (1 + low) / 2
}

// Means are the mean lengths of a prompt and an answer over all requests, and the tokens of a prompt that a cache
// which never evicts would have.
func (s *Session) Means() (input, output, cached float64) {
	turns, before := 0.0, 0.0 // requests, and turns before them, summed over all numbers of turns
	for n := s.Least(); n <= s.Turns; n++ {
		turns += float64(n)
		before += float64(n) * float64(n-1) / 2
	}
	sessions := float64(s.Turns - s.Least() + 1)
	first, user := s.mean(s.First), s.mean(s.User)
	output = s.mean(s.Output)
	input = float64(s.System) + first + before/turns*(user+output)
	computed := (sessions*first + (turns-sessions)*user) / turns
	return input, output, input - computed
}

// Pairs is the mean over all requests of the tokens that a cache which never evicts leaves to compute, each times the tokens
// before it: what attention to a prompt takes.
func (s *Session) Pairs() float64 {
	first, user, output := s.mean(s.First), s.mean(s.User), s.mean(s.Output)
	before, sum, requests := float64(s.System), 0.0, 0.0
	for turn := 1; turn <= s.Turns; turn++ {
		reach := float64(min(s.Turns-turn, s.Turns-s.Least()) + 1) // numbers of turns that have this one
		tokens := user
		if turn == 1 {
			tokens = first
		}
		sum, requests = sum+reach*tokens*(before+(tokens+1)/2), requests+reach
		before += tokens + output
	}
	return sum / requests
}

// Single says that the session is one request like any other.
func (s *Session) Single() bool { return s.Turns == 1 && s.System == 0 }
