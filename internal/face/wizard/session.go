package wizard

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Session finds the next question from the answers. It draws and runs nothing.
type Session struct {
	Known

	all     []Question
	history []ID // asked and answered, in order
	// again is a question to ask although it is answered, "" for none.
	again ID
	// stale is set when an answer changed, which may invalidate others.
	stale bool
}

// NewSession starts with the answers that are known.
func NewSession(k Known) *Session {
	if k.Answers == nil {
		k.Answers = Answers{}
	}
	k.models, k.fit = map[string]*model.Model{}, map[string]bool{}
	return &Session{Known: k, all: Questions(), stale: true}
}

// Next is the question to ask and the error of its present answer; nil when nothing is missing.
func (s *Session) Next() (*Question, error) {
	if s.again != "" {
		return s.question(s.again), nil
	}
	for i := range s.all {
		q := &s.all[i]
		if !q.relevant(&s.Known) {
			continue
		}
		a, ok := s.Answers[q.ID]
		switch {
		case !ok && q.Quiet:
			s.Answers[q.ID] = Answer(q.Suggest(&s.Known))
		case !ok:
			return q, nil
		case s.stale:
			value, err := q.Check(&s.Known, a.Value)
			if err != nil {
				return q, err
			}
			s.Answers[q.ID] = Answer{value, a.Source}
		}
	}
	s.stale = false
	return nil, nil
}

// question finds a question.
func (s *Session) question(id ID) *Question {
	i := slices.IndexFunc(s.all, func(q Question) bool { return q.ID == id })
	return &s.all[i]
}

// Answer stores an answer, or returns its error.
func (s *Session) Answer(q *Question, typed string, from Source) error {
	value, err := q.Check(&s.Known, typed)
	if err != nil {
		return err
	}
	if _, replaced := s.Answers[q.ID]; replaced {
		s.stale = true
	}
	s.Answers[q.ID] = Answer{value, from}
	if !slices.Contains(s.history, q.ID) {
		s.history = append(s.history, q.ID)
	}
	s.again = ""
	return nil
}

// Back asks the question before q again; false when there is none.
func (s *Session) Back(q ID) bool {
	before := slices.Clone(s.history)
	if i := slices.Index(before, q); i >= 0 {
		before = before[:i]
	}
	for _, id := range slices.Backward(before) {
		if s.question(id).relevant(&s.Known) {
			s.again = id
			return true
		}
	}
	return false
}

// Change asks a question again.
func (s *Session) Change(id ID) { s.again = id }

// Answered are the relevant questions with an answer, in order.
func (s *Session) Answered() []*Question {
	var out []*Question
	for i := range s.all {
		q := &s.all[i]
		if _, ok := s.Answers[q.ID]; ok && q.relevant(&s.Known) {
			out = append(out, q)
		}
	}
	return out
}

// Missing are the relevant questions without an answer; their answers may lead to more.
func (s *Session) Missing() []*Question {
	var out []*Question
	for i := range s.all {
		q := &s.all[i]
		if _, ok := s.Answers[q.ID]; !ok && !q.Quiet && q.relevant(&s.Known) {
			out = append(out, q)
		}
	}
	return out
}
