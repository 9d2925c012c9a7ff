package traffic

// prompts are the mean length of prompts and of its square.
func (o *OpenLoop) prompts() (mean, square float64) {
	if o.Mix == nil {
		return o.Input.moments()
	}
	shares := 0.0
	for i := range o.Mix {
		k := &o.Mix[i]
		m, s := 0.0, 0.0
		switch {
		case k.Session != nil: // of one turn
			first, system := k.first(), float64(k.Session.System)
			m, s = first.moments()
			m, s = system+m, s+system*(2*m+system)
		case k.Like == nil:
			m, s = k.Input.moments()
		}
		for j := range k.Like {
			n := float64(k.Like[j].Input)
			m += n / float64(len(k.Like))
			s += n * n / float64(len(k.Like))
		}
		shares += k.Share
		mean += k.Share * m
		square += k.Share * s
	}
	return mean / shares, square / shares
}

// moments are the mean length and that of its square.
func (l *Lengths) moments() (mean, square float64) {
	if l.Distribution == nil {
		return evenly(l.Shortest(), l.Tokens)
	}
	weights := 0.0
	for _, b := range l.Distribution.Bins {
		m, s := evenly(b.Min, b.Max-1)
		if b.Min == 0 { // drawn as 1
			m += 1 / float64(b.Max)
			s += 1 / float64(b.Max)
		}
		weights += b.Weight
		mean += b.Weight * m
		square += b.Weight * s
	}
	return mean / weights, square / weights
}

// evenly are the moments of a length from low to high, each as likely.
func evenly(low, high int) (mean, square float64) {
	n := float64(high-low) + 1
	mean = (float64(low) + float64(high)) / 2
	return mean, mean*mean + (n*n-1)/12
}
