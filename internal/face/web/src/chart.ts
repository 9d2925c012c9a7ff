// A chart as Go describes it (chart.go). Its ranges are already chosen.

export interface Axis { title: string; log?: boolean; share?: boolean; min: number; max: number }

export interface Series {
  name: string; colour: number; dash?: boolean; step?: boolean; points?: boolean;
  xs: number[]; ys: number[]; low?: number[]; high?: number[]; notes?: string[]; opens?: string;
}

export interface Mark {
  name: string; colour: number; x: number; x_low: number; x_high: number; y: number; y_low: number; y_high: number;
}

export interface Limit { name: string; vertical?: boolean; at: number }

export interface Chart {
  id: string; title: string; about: string; x: Axis; y: Axis; series: Series[]; marks?: Mark[]; limits?: Limit[];
}
