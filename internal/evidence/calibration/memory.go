package calibration

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// Memory is how measured deployments differ from what the groups say: how much longer their kernels took, and beside that those of
// their prompts. What a prediction takes of it fades with its distance to them ([nearness]): it is the mean of a
// Gaussian process with that covariance through the remembered values.
type Memory struct {
	points []Remembered
	// weights are the covariances' inverse times the values: of kernels, and of prompts; 0 of points without a value.
	weights [2][]float64
	// said is what was last said, and of what: the errors of one deployment are looked up at many loads, one after the other.
	said atomic.Pointer[said]
}

// said is what a memory says of a subject in words.
type said struct {
	of    Subject
	words string
}

// Remembered is a measured deployment that a memory keeps.
type Remembered struct {
	Subject Subject // without what does not count in a distance
	// Kernels and Prompts are logarithms of multipliers, NaN where the others say nearly the same.
	Kernels, Prompts float64
	Rows             int
	Source           string // of its rows
}

// How much of what is remembered of a deployment holds for another that differs in one thing; what differs in several has
// the product. Chosen where rows were held out by configuration, by model, by system and by source (internal/evidence/NOTEBOOK.md): of
// another engine nearly nothing carries over, of another device of the generation nearly all.
const (
	otherEngine     = 0.1
	otherDevice     = 0.9 // of the same generation or its variants
	otherGeneration = 0.5 // on top
	otherModel      = 0.5 // of the same class and size
	otherClass      = 0.3 // on top, or another size
	otherWeights    = 0.5
	otherMode       = 0.5 // disaggregated or not
	otherRelease    = 0.6
	otherLayout     = 0.6
	otherRig        = 0.3 // of people whose hosts, builds and settings are not known in full
)

// nearness is the share of what is remembered of one deployment that holds for another.
func nearness(a, b *Subject) float64 {
	near := 1.0
	differ := func(differs bool, share float64) {
		if differs {
			near *= share
		}
	}
	differ(a.Engine != b.Engine, otherEngine)
	differ(a.System != b.System, otherDevice)
	differ(a.family() != b.family(), otherGeneration)
	differ(a.Model != b.Model, otherModel)
	differ(a.Model != b.Model && (a.Class != b.Class || a.Size != b.Size), otherClass)
	differ(a.Weights != b.Weights, otherWeights)
	differ(a.Disaggregated != b.Disaggregated, otherMode)
	differ(a.Release != b.Release, otherRelease)
	differ(a.layout() != b.layout(), otherLayout)
	differ(a.Rig != b.Rig, otherRig)
	return near
}

// layout is that of an aggregated deployment: the pools of others have two.
func (s *Subject) layout() string {
	if s.Disaggregated {
		return disaggregated
	}
	return s.Layout
}

// nugget keeps covariances of deployments that are alike invertible; a thousandth of their variance.
const nugget = 1e-3

// NewMemory remembers deployments, by their names.
func NewMemory(points map[string]Remembered) *Memory {
	m := &Memory{}
	for _, name := range slices.Sorted(maps.Keys(points)) {
		m.points = append(m.points, points[name])
	}
	for j := range m.weights {
		m.weights[j] = make([]float64, len(m.points))
		var has []int
		var values []float64
		for i := range m.points {
			if x := [2]float64{m.points[i].Kernels, m.points[i].Prompts}[j]; !math.IsNaN(x) {
				has, values = append(has, i), append(values, x)
			}
		}
		l := cholesky.Factor(Covariances(len(has), func(i int) *Subject { return &m.points[has[i]].Subject }), nugget)
		for i, w := range l.Solve(values) {
			m.weights[j][has[i]] = w
		}
	}
	return m
}

// Covariances are those of n deployments, in units of their variance.
func Covariances(n int, of func(int) *Subject) [][]float64 {
	a := make([][]float64, n)
	for i := range n {
		a[i] = make([]float64, n)
		for j := range i {
			a[i][j] = nearness(of(i), of(j))
			a[j][i] = a[i][j]
		}
		a[i][i] = 1 + nugget
	}
	return a
}

// Points are the remembered deployments, in the order of their names.
func (m *Memory) Points() []Remembered {
	if m == nil {
		return nil
	}
	return m.points
}

// Recall is what a memory says of a subject: logarithms of multipliers.
func (m *Memory) Recall(s *Subject) (ofKernels, ofPrompts float64) {
	if m == nil {
		return 0, 0
	}
	for i := range m.points {
		near := nearness(s, &m.points[i].Subject)
		ofKernels += near * m.weights[0][i]
		ofPrompts += near * m.weights[1][i]
	}
	return ofKernels, ofPrompts
}

// neighbour is the nearness from which a remembered deployment is named as one.
const neighbour = 0.3

// inWords is what a memory changes in a prediction, from how many neighbours and sources; "" for less than half a percent.
func (m *Memory) inWords(s *Subject) string {
	if m == nil {
		return ""
	}
	if last := m.said.Load(); last != nil && last.of == *s {
		return last.words
	}
	out := m.say(s)
	m.said.Store(&said{*s, out})
	return out
}

func (m *Memory) say(s *Subject) string {
	kernelTimes, promptTimes := 0.0, 0.0
	near, rows, best := 0, 0, 0.0
	var nearest *Subject
	var sources []string
	for i := range m.points {
		p := &m.points[i]
		x := nearness(s, &p.Subject)
		kernelTimes, promptTimes = kernelTimes+x*m.weights[0][i], promptTimes+x*m.weights[1][i]
		if x > best {
			best, nearest = x, &p.Subject
		}
		if x >= neighbour {
			near++
			rows += p.Rows
			sources = append(sources, p.Source)
		}
	}
	if math.Abs(kernelTimes) < 0.005 && math.Abs(promptTimes) < 0.005 {
		return ""
	}
	out := fmt.Sprintf("; corrected by measured deployments: kernels ×%.2f, prompts ×%.2f ", math.Exp(kernelTimes), math.Exp(promptTimes))
	if near == 0 {
		return out + "(none nearby)"
	}
	slices.Sort(sources)
	return out + fmt.Sprintf("(%d nearby: %s from %s; nearest: %s)", near, units.Counted(rows, "row"), strings.Join(slices.Compact(sources), ", "), nearest.inShort())
}

// inShort names a remembered deployment for a reader.
func (s *Subject) inShort() string {
	return fmt.Sprintf("%s of %s on %s under %s %s", s.layout(), s.checkpoint(), s.System, s.Engine, cmp.Or(s.Release, "without a version"))
}

// fields is how many words the name of a deployment has; the rig follows where there is one.
const fields = 8

// nothing stands for an empty word in the name of a deployment.
const nothing = "-"

// Deployment names what counts in a distance.
func (s *Subject) Deployment() string {
	words := []string{s.Engine, s.System, s.family(), s.checkpoint(), string(s.Class), s.Size, s.layout(), s.Release}
	for i, w := range words {
		words[i] = cmp.Or(w, nothing)
	}
	if s.Rig != "" {
		words = append(words, s.Rig)
	}
	return strings.Join(words, separator)
}

// Remembers is the subject as far as it counts in a distance.
func (s *Subject) Remembers() Subject {
	out := Subject{
		Engine: s.Engine, System: s.System, Generation: s.family(), Model: s.Model, Weights: s.Weights,
		Class: s.Class, Size: s.Size, Layout: s.Layout, Release: s.Release, Rig: s.Rig, Disaggregated: s.Disaggregated,
	}
	if s.Disaggregated {
		out.Layout = ""
	}
	return out
}

// deploymentNamed reads the name of a deployment.
func deploymentNamed(name string) (s Subject, err error) {
	words := strings.Split(name, separator)
	if len(words) == fields {
		words = append(words, nothing)
	}
	if len(words) != fields+1 {
		return s, fmt.Errorf("want the %d words of a deployment: engine, system, generation, checkpoint, class, size, layout and release, \"%s\" where there is none, and whose rig it is", fields, nothing)
	}
	for i, w := range words {
		if w == nothing {
			words[i] = ""
		}
	}
	s.Engine, s.System, s.Generation = words[0], words[1], words[2]
	s.Model = modelOf(words[3])
	s.Weights = strings.TrimSuffix(strings.TrimPrefix(words[3][len(s.Model):], withWeights), ")")
	s.Size, s.Layout, s.Release, s.Rig = words[5], words[6], words[7], words[8]
	s.Class = engine.Class(words[4])
	if s.Layout == disaggregated {
		s.Layout, s.Disaggregated = "", true
	}
	return s, nil
}

// text is the line of a file.
func (p Remembered) text() string {
	var words []string
	for _, x := range p.values() {
		if !math.IsNaN(*x.log) {
			words = append(words, fmt.Sprintf("%s %.3f", x.of, math.Exp(*x.log)))
		}
	}
	return fmt.Sprintf("%s, %d rows of %s", strings.Join(words, ", "), p.Rows, p.Source)
}

// value is a multiplier of a remembered deployment with its name in a file.
type value struct {
	of  string
	log *float64
}

func (p *Remembered) values() []value {
	return []value{{"kernels", &p.Kernels}, {"prompts", &p.Prompts}}
}

// readRemembered reads a line of a file.
func readRemembered(name, text string) (p Remembered, err error) {
	if p.Subject, err = deploymentNamed(name); err != nil {
		return p, err
	}
	const least, most = 0.01, 100
	wrong := fmt.Errorf(`want "kernels 1.04, prompts 0.97, 12 rows of SOURCE" or one of the two, multipliers between %g and %d`, least, most)
	before, source, _ := strings.Cut(text, " rows of ")
	words := strings.Split(before, ", ")
	last := len(words) - 1
	if p.Source = source; source == "" || last < 1 {
		return p, wrong
	}
	if p.Rows, err = strconv.Atoi(words[last]); err != nil || p.Rows < 1 {
		return p, wrong
	}
	words = words[:last]
	for _, x := range p.values() {
		*x.log = math.NaN()
		if len(words) == 0 {
			continue
		}
		if number, ok := strings.CutPrefix(words[0], x.of+" "); ok {
			m, err := strconv.ParseFloat(number, 64)
			if err != nil || !(m > least && m < most) {
				return p, wrong
			}
			*x.log, words = math.Log(m), words[1:]
		}
	}
	if len(words) > 0 {
		return p, wrong
	}
	return p, nil
}
