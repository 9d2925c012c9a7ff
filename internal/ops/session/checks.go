package session

import (
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

const (
	// MaxTokens bounds lengths and counts, as the Ascend command line does.
	MaxTokens = 100_000_000
	// maxPixels bounds the sides of an image.
	maxPixels = 1 << 16
	// ImageMarks are the two tokens around an image's own.
	ImageMarks = 2
)

// Zero is the error for a count set to zero. In a request zero means unset: an
// interface that can distinguish the two reports it.
func Zero(name field.Name) error { return BadInput(field.Between(name, 0, 1, MaxTokens)) }

// Optional checks a count that may be unset.
func Optional(name field.Name, v int) error {
	if v == 0 {
		return nil
	}
	return field.Between(name, v, 1, MaxTokens)
}

// Acceptance checks the probabilities that draft tokens are accepted.
func Acceptance(rates []float64) error {
	var errs []error
	for _, rate := range rates {
		if !(rate >= 0 && rate <= 1) {
			errs = append(errs, field.Errorf("%s must be between 0 and 1, got %g", field.Name("mtp_acceptance_rates"), rate))
		}
	}
	return errors.Join(errs...)
}

// HitRate checks the cached share of a prompt, which must be below 1.
func HitRate(x float64) error {
	if !(x >= 0 && x < 1) {
		return field.Errorf("%s must be at least 0 and below 1, got %g", field.Name("prefix_cache_hit_rate"), x)
	}
	return nil
}

// Confidence checks a probability that is neither 0 nor 1.
func Confidence(x float64) error {
	if !(x > 0 && x < 1) {
		return field.Errorf("%s must be above 0 and below 1, got %g", field.Name("confidence"), x)
	}
	return nil
}

// NotNegative checks a finite amount.
func NotNegative(name field.Name, x float64) error {
	if !(x >= 0) || math.IsInf(x, 0) {
		return field.Errorf("%s must be finite and not negative, got %g", name, x)
	}
	return nil
}

// CheckLimits checks limits, which may be unset or infinite.
func CheckLimits(l workload.Limits) error {
	limit := func(name field.Name, s units.Seconds) error {
		if !(s >= 0) {
			return field.Errorf("%s must be positive, got %g", name, s.Ms())
		}
		return nil
	}
	return errors.Join(limit("ttft_limit", l.TTFT), limit("tpot_limit", l.TPOT), limit("request_latency", l.Latency))
}

// CheckImages checks the number and size of images, if any.
func CheckImages(m *model.Model, number, height, width int) error {
	if number == 0 {
		return checkImage(m, height, width)
	}
	switch {
	case m.Vision == nil:
		return noVision("image_batch_size", m)
	case height == 0 && width == 0:
		return field.Errorf("%s needs %s and %s", field.Name("image_batch_size"), field.Name("image_height"), field.Name("image_width"))
	}
	return errors.Join(field.Between("image_batch_size", number, 1, MaxTokens), checkImage(m, height, width))
}

// checkImage checks the size of images, if any.
func checkImage(m *model.Model, height, width int) error {
	switch {
	case height == 0 && width == 0:
		return nil
	case m.Vision == nil && height != 0:
		return noVision("image_height", m)
	case m.Vision == nil:
		return noVision("image_width", m)
	case width == 0:
		return field.Errorf("%s needs %s", field.Name("image_height"), field.Name("image_width"))
	case height == 0:
		return field.Errorf("%s needs %s", field.Name("image_width"), field.Name("image_height"))
	}
	return errors.Join(
		field.Between("image_height", height, 1, maxPixels),
		field.Between("image_width", width, 1, maxPixels),
	)
}

func noVision(name field.Name, m *model.Model) error {
	return field.Errorf("%s: %s has no vision tower", name, m.Name())
}

// Limits are limits in milliseconds; null means none.
type Limits struct {
	TTFT *float64 `json:"ttft_ms"`
	TPOT *float64 `json:"tpot_ms"`
	// Latency is that of a whole request; left out without such a limit.
	Latency *float64 `json:"latency_ms,omitempty"`
}

// LimitsOf are limits as answers have them.
func LimitsOf(l workload.Limits) *Limits {
	return &Limits{LimitMs(l.TTFT), LimitMs(l.TPOT), LimitMs(l.Latency)}
}

// LimitMs is a limit in the milliseconds it was given in, nil for none.
func LimitMs(s units.Seconds) *float64 {
	if s == 0 || math.IsInf(float64(s), 1) {
		return nil
	}
	return new(s.TypedMs())
}

// UpMs is a latency in milliseconds, rounded up to two decimals, so that it meets a limit
// of this value.
func UpMs(s units.Seconds) float64 { return math.Ceil(s.Ms()*100) / 100 }
