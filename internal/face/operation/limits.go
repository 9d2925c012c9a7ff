package operation

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Limits of one request to a server, beside those in the tags of fields. The command line and the Go API do not have them.
const (
	// MaxNames limits a list of names; there are some 100 devices and 10 engines.
	MaxNames = 256
	// MaxItems limits any other list: a rate for every minute of a day fits.
	MaxItems = 1 << 11
	// maxLayouts limits the combinations of sizes given to a search.
	maxLayouts = 1 << 14
	// MaxRequests limits a simulation: each request takes about 200 bytes until its end.
	MaxRequests = 1 << 17
	// maxReplicas limits the replicas of a pool.
	maxReplicas = 1 << 12
)

// overLimits reports work above the limits, before any is done, and what no schema says. The path is that of the value in the request.
func overLimits(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return overLimits(v.Elem(), path)
	case reflect.Struct:
		return limitsOfStruct(v, path)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON as it is written
			return nil
		}
		var errs []error
		for i := range v.Len() {
			errs = append(errs, overLimits(v.Index(i), fmt.Sprintf("%s[%d]", path, i)))
		}
		return errors.Join(errs...)
	default:
		return nil
	}
}

// limitsOfStruct checks the fields of a struct, one by one and in combination.
func limitsOfStruct(v reflect.Value, path string) error {
	errs := []error{}
	switch x := v.Interface().(type) {
	case opssimulate.Traffic:
		errs = append(errs, requests(path, &x))
	case deploy.Request:
		errs = append(errs, requests(path, trafficOf(&x)))
	case deployment.Pool:
		errs = append(errs, atMost(join(path, "replicas"), x.Replicas, maxReplicas, tooMany))
	case search.Space:
		errs = append(errs, atMost(path, combinations(&x), maxLayouts, "%s must have at most %d combinations of sizes, got %d or more"))
	case workload.Bin:
		if x.Max <= x.Min {
			errs = append(errs, field.At(join(path, "max_tokens"), strconv.Itoa(x.Max), "%s must be above min_tokens %d, got %d", join(path, "max_tokens"), x.Min, x.Max))
		}
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && f.Tag.Get("json") != "-" {
			errs = append(errs, overLimits(v.Field(i), join(path, field.JSON(f))))
		}
	}
	return errors.Join(errs...)
}

// tooMany says that a number is too large.
const tooMany = "%s must be at most %d, got %d"

// requests reports too many requests, and clients that send too many because their number is not given.
func requests(path string, r *opssimulate.Traffic) error {
	if r.Requests != 0 {
		return errors.Join(atMost(join(path, "num_prompts"), r.Requests, MaxRequests, tooMany), atMost(join(path, "concurrency"), r.Concurrency, MaxRequests, tooMany))
	}
	return atMost(join(path, "concurrency"), r.Concurrency, MaxRequests/perClient, "%s without num_prompts must be at most %d, got %d")
}

// atMost reports a number that is too large.
func atMost(path string, n, most int, format string) error {
	if n <= most {
		return nil
	}
	e := field.At(path, strconv.Itoa(n), format, path, most, n)
	e.Allowed = []string{fmt.Sprintf("at most %d", most)}
	return e
}

// join is the path of a field inside an object.
func join(path, name string) string {
	switch {
	case name == "":
		return path // the fields of an embedded struct are its owner's
	case path == "":
		return name
	}
	return path + "." + name
}
