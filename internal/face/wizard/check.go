package wizard

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
)

// Check parses an answer as typed and returns it in normal form, or an error: from its kind, or from the check of the
// request that it leads to.
func (q *Question) Check(k *Known, typed string) (string, error) {
	value := strings.TrimSpace(typed)
	if value == "" {
		return "", errors.New(k.Text.NeedAnswer)
	}
	value, err := q.read(k, value)
	if err != nil {
		return "", err
	}
	with := *k
	with.Answers = maps.Clone(k.Answers)
	with.Answers[q.ID] = Answer{Value: value}
	if q.ID == Model {
		return value, with.checkModel(value)
	}
	if len(q.Field) == 0 {
		return value, nil
	}
	if err := with.about(q.Field); err != nil || q.ID != NumDevices {
		return value, k.Text.translated(err)
	}
	return value, with.checkRoom()
}

// read reads a choice or a text.
func (q *Question) read(k *Known, value string) (string, error) {
	if q.Choices == nil {
		return q.Kind.read(k.Text, value)
	}
	if c, ok := q.choice(k, value); ok {
		return c, nil
	}
	if near, ok := nearest.Match(value, q.Choices(k)); ok {
		return "", fmt.Errorf(k.Text.NoChoiceNear, value, near)
	}
	return "", fmt.Errorf(k.Text.NoChoice, value, strings.Join(q.Choices(k), ", "))
}

// read reads a text.
func (kind Kind) read(t *Text, value string) (string, error) {
	switch kind {
	case Pixels:
		if strings.EqualFold(value, NoImages) {
			return NoImages, nil
		}
		return counted(t, value)
	case Size:
		return readSize(t, value)
	case Tokens:
		if _, ok := workload.LookupPreset(strings.ToLower(value)); ok {
			return strings.ToLower(value), nil
		}
		return counted(t, value)
	case Count:
		return counted(t, value)
	case Ms:
		return timed(t, value)
	case Share:
		return value, readNumber(t.WantShare, value, func(x float64) bool { return x >= 0 && x < 1 })
	case Shares:
		return shares(t, value)
	case Names:
		return strings.Join(split(value), " "), nil
	default:
		return value, nil
	}
}

// timed reads a time in milliseconds.
func timed(t *Text, value string) (string, error) {
	x, err := units.ReadMs(value)
	if err != nil || math.IsNaN(x) || x <= 0 {
		return "", fmt.Errorf(t.WantMs, value)
	}
	return strings.ToLower(strings.TrimPrefix(number(x), "+")), nil // inf as people type it
}

// shares reads a list of shares.
func shares(t *Text, value string) (string, error) {
	for _, w := range split(value) {
		if err := readNumber(t.WantShares, w, func(x float64) bool { return x >= 0 && x <= 1 }); err != nil {
			return "", err
		}
	}
	return strings.Join(split(value), " "), nil
}

// counted reads a positive whole number, also one such as 3.5k.
func counted(t *Text, value string) (string, error) {
	n, err := units.ReadCount(value)
	if err != nil || n < 1 || n != math.Trunc(n) || n > math.MaxInt32 {
		return "", fmt.Errorf(t.WantCount, value)
	}
	return strconv.Itoa(int(n)), nil
}

// readNumber reads a number in a range.
func readNumber(wrong, value string, in func(float64) bool) error {
	if x, err := strconv.ParseFloat(value, 64); err != nil || math.IsNaN(x) || !in(x) {
		return fmt.Errorf(wrong, value)
	}
	return nil
}

// checkModel looks a model up.
func (k *Known) checkModel(id string) error {
	_, err := k.World.Model(id, "")
	if unknown, ok := errors.AsType[*model.UnknownError](err); ok {
		if len(unknown.Nearest) == 0 {
			return fmt.Errorf(k.Text.NoModel, id)
		}
		return fmt.Errorf(k.Text.NoModelNear, id, strings.Join(unknown.Nearest, ", "))
	}
	return k.Text.translated(err)
}

// about is the error in the request that concerns a field.
func (k *Known) about(name field.Name) error {
	r := k.checked()
	if name == "device" {
		for _, d := range r.Devices {
			if _, err := k.World.Device(d, ""); err != nil {
				return err
			}
		}
		r.NumDevices = 1 // checked with its own answer
	}
	var errs []error
	_, wrong := optimize.Check(k.World, r)
	for _, err := range field.Each(wrong) {
		if slices.Contains(field.Names(err), name) {
			errs = append(errs, errors.New(field.Say(err, k.Say)))
		}
	}
	return errors.Join(errs...)
}
