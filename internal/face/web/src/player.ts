import { number } from "./number";
import { say } from "./words";

// A minute of the simulated run that can be played: what each replica does.

interface Replica { role: string; alike: number; queued: number[]; prefill: number[]; decode: number[]; moving: number[]; kv_use: number[] }
interface Minute { from_s: number; every_s: number; replicas: Replica[] }

// The phases of a request with their colours, in the order of its life.
const phases = [["queued", 6], ["prefill", 2], ["moving", 4], ["decode", 3]] as const;

let stop: () => void = () => undefined;

// play makes the player of an answer work.
export function play(root: ParentNode): void {
  stop();
  stop = () => undefined;
  const box = root.querySelector<HTMLElement>("#player"), record = root.querySelector("#record")?.textContent;
  const minute = record ? (JSON.parse(record) as { minute?: Minute }).minute : undefined;
  if (!box || !minute?.replicas.length) return;
  new Player(box, minute);
}

class Player {
  private slider: HTMLInputElement;
  private button: HTMLButtonElement;
  private time: HTMLElement;
  private lanes: { parts: HTMLElement[]; words: HTMLElement; kv: HTMLElement }[];
  private last: number;
  private most: number; // requests in a replica at a time
  private frame = 0;
  private began = 0;
  private from = 0;

  constructor(box: HTMLElement, private minute: Minute) {
    this.last = minute.replicas[0]!.queued.length - 1;
    this.most = Math.max(1, ...minute.replicas.flatMap((r) => r.queued.map((_, i) => total(r, i))));
    this.slider = box.querySelector<HTMLInputElement>("input[type=range]")!;
    this.button = box.querySelector<HTMLButtonElement>("[data-play]")!;
    this.time = box.querySelector<HTMLElement>("output")!;
    this.slider.max = String(this.last);
    const named = new Map<string, number>();
    this.lanes = minute.replicas.map((r) => {
      const n = (named.get(r.role) ?? 0) + 1;
      named.set(r.role, n);
      return this.lane(box.querySelector(".lanes")!, r, n);
    });
    this.slider.addEventListener("input", () => { this.pause(); this.show(); });
    this.button.addEventListener("click", () => (this.frame ? this.pause() : this.start()));
    box.querySelector("select")!.addEventListener("input", () => { if (this.frame) this.start(); });
    stop = () => this.pause();
    this.show();
  }

  private lane(place: Element, r: Replica, n: number): { parts: HTMLElement[]; words: HTMLElement; kv: HTMLElement } {
    const lane = document.createElement("div"), name = document.createElement("b"), bar = document.createElement("div"), kv = document.createElement("i"), words = document.createElement("span");
    lane.className = "lane";
    bar.className = "load";
    bar.setAttribute("aria-hidden", "true");
    kv.className = "kv";
    const role = say(r.role === "both" ? "replica" : r.role);
    name.textContent = r.alike > 1 ? say("each of {0} replicas", r.alike) : `${role} ${n}`;
    const parts = phases.map(([phase, colour]) => {
      const part = document.createElement("i");
      part.className = `c${colour}`;
      part.dataset.tip = say(phase === "moving" ? "KV cache in transfer" : phase);
      return part;
    });
    bar.append(...parts, kv);
    lane.append(name, bar, words);
    place.append(lane);
    return { parts, words, kv };
  }

  private start(): void {
    this.pause();
    if (Number(this.slider.value) >= this.last) this.slider.value = "0";
    this.began = performance.now();
    this.from = Number(this.slider.value);
    const speed = Number(this.button.parentElement!.querySelector("select")!.value);
    const next = (now: number) => {
      const at = this.from + ((now - this.began) / 1000) * speed / this.minute.every_s;
      this.slider.value = String(Math.min(this.last, Math.floor(at)));
      this.show();
      if (at >= this.last) this.pause();
      else this.frame = requestAnimationFrame(next);
    };
    this.frame = requestAnimationFrame(next);
    this.button.textContent = say("Pause");
  }

  private pause(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.button.textContent = say("Play");
  }

  private show(): void {
    const at = Number(this.slider.value);
    const sum = { queued: 0, prefill: 0, moving: 0, decode: 0 };
    this.minute.replicas.forEach((r, i) => {
      const lane = this.lanes[i]!;
      phases.forEach(([phase], k) => {
        sum[phase] += r[phase][at]! * r.alike;
        lane.parts[k]!.style.width = `${(100 * r[phase][at]!) / this.most}%`;
      });
      lane.kv.style.width = `${100 * r.kv_use[at]!}%`;
      lane.words.textContent = `${words(r.queued[at]!, r.prefill[at]!, r.moving[at]!, r.decode[at]!)} · KV ${number(Math.round(100 * r.kv_use[at]!))} %`;
    });
    const second = `${(at * this.minute.every_s).toFixed(1)} s`;
    this.time.textContent = second;
    this.slider.setAttribute("aria-valuetext", `${second}: ${words(sum.queued, sum.prefill, sum.moving, sum.decode)}`);
  }
}

function total(r: Replica, i: number): number { return r.queued[i]! + r.prefill[i]! + r.moving[i]! + r.decode[i]!; }

function words(queued: number, prefill: number, moving: number, decode: number): string {
  return [say("{0} queued", queued), say("{0} prefill", prefill), moving ? say("{0} in transfer", moving) : "", say("{0} decode", decode)].filter(Boolean).join(", ");
}
