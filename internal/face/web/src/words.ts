// The words of the pages. English is written where it is used; zh.json has the same in Chinese, by the English words. {0}, {1} …
// are values.

// Table is words of a language: what English texts are in it, and regular expressions of the messages of checks with what to say in their place,
// which the wizard of the terminal has too.
export interface Table { words: Record<string, string>; messages?: [string, string][] }

// A pattern of a clause has no other clause in its values, that of a sentence may.
interface Pattern { test: RegExp; pieces: string[]; words: string; clause: boolean }

let table: Record<string, string> = {};
let patterns: Pattern[] = [];
const known = new Map<string, string | undefined>(); // texts that were looked up

// The language of the page: that of the address, the one chosen last, or that of the browser.
export const language: "en" | "zh" = chosen();

function chosen(): "en" | "zh" {
  let kept: string | null = null;
  try { kept = localStorage.getItem("plimsoll-language"); } catch { /* storage may be forbidden */ }
  return (new URLSearchParams(location.search).get("lang") ?? kept ?? navigator.language).toLowerCase().startsWith("zh") ? "zh" : "en";
}

// load says what is on the page in its language, with words that are given or fetched.
export async function load(given?: Table): Promise<void> {
  const button = document.querySelector<HTMLElement>("#language");
  button?.addEventListener("click", () => {
    const next = language === "zh" ? "en" : "zh";
    try { localStorage.setItem("plimsoll-language", next); } catch { /* the address has it */ }
    const at = new URL(location.href);
    at.searchParams.set("lang", next);
    location.assign(at);
  });
  if (language === "en") return;
  try {
    use(given ?? ((await (await fetch("zh.json")).json()) as Table));
  } catch { return; } // English can be read
  document.documentElement.lang = "zh";
  if (button) { button.textContent = "English"; button.lang = "en"; }
  translate(document.body);
}

// use takes a table of words. {#0} is a number.
function use(all: Table): void {
  table = all.words;
  patterns = Object.keys(table).filter((k) => /\{#?\d\}/.test(k)).sort((a, b) => b.length - a.length).map((k) => ({
    test: new RegExp("^" + k.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(#?)(\d)\}/g, (_, n: string, i: string) => `(?<v${i}>${n ? "[-+−]?[\\d.,]*\\d" : value(k)})`) + "$", "d"),
    pieces: k.split(/\{#?\d\}/).filter(Boolean), words: table[k]!, clause: !/(\.|: \{\d\})$/.test(k),
  }));
  for (const [test, words] of all.messages ?? []) patterns.push({ test: new RegExp(test), pieces: [], words: words.replace(/\$(\d)/g, "{$1}"), clause: false });
  known.clear();
}

// value is what a value of a pattern may be: within a sentence, and one word where the pattern itself says little.
function value(pattern: string): string {
  const letters = pattern.replace(/\{#?\d\}|[^a-z]/gi, "").length;
  return (letters < 3 && !pattern.includes("(")) || (letters < 6 && pattern.startsWith("{") && !pattern.startsWith("{#")) ? "\\S+?" : "(?:(?!\\. [A-Z0-9]).)+?";
}

// say is a text of the page in its language.
export function say(text: string, ...values: (string | number)[]): string {
  return (table[text] ?? text).replace(/\{#?(\d)\}/g, (_, i: string) => String(values[Number(i)] ?? ""));
}

// said is a text that is already English, with its values in it. What has no translation stays.
export function said(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  if (!plain || language === "en") return text;
  const out = find(plain);
  return out === undefined ? text : text.replace(/^(\s*)[^]*?(\s*)$/, (_, a: string, b: string) => a + out + b);
}

// joints are where a text is taken apart that is not known as a whole, and what joins its parts in Chinese.
const joints: [string, string][] = [[". ", ""], ["; ", "；"], [": ", "："], [", ", "，"]];

// find is the translation of a text or of its parts; undefined where none of them has one.
function find(text: string): string | undefined {
  if (known.has(text)) return known.get(text);
  let out = phrase(text);
  for (const [joint, sign] of joints) {
    if (out !== undefined) break;
    const parts = apart(text, joint), found = parts.length > 1 ? parts.map(find) : [];
    if (found.some((f) => f !== undefined)) out = parts.map((p, i) => found[i] ?? (sign ? p : p + " ")).join(sign).trim();
  }
  if (out === undefined && text.endsWith(".")) {
    out = find(text.slice(0, -1));
    if (out !== undefined) out += "。";
  }
  if (known.size > 5000) known.clear();
  known.set(text, out);
  return out;
}

// apart splits a text where it is not in parentheses; sentences keep their full stops.
function apart(text: string, joint: string): string[] {
  const out: string[] = [], stop = joint === ". ";
  let depth = 0, from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")") depth--;
    else if (depth === 0 && text.startsWith(joint, i) && (!stop || /[-A-Z0-9]/.test(text[i + 2] ?? ""))) {
      out.push(text.slice(from, stop ? i + 1 : i));
      from = i + joint.length;
    }
  }
  return [...out, text.slice(from)];
}

// clauses reports whether a value of a match goes on beyond a joint, or over the end of a parenthesis.
function clauses(text: string, m: RegExpExecArray): boolean {
  return Object.keys(m.groups ?? {}).some((name) => {
    const [from, to] = m.indices!.groups![name]!, before = text.slice(0, from), v = text.slice(from, to);
    const inside = before.split("(").length > before.split(")").length;
    return v.split("(").length !== v.split(")").length || (!inside && joints.some(([joint]) => apart(v, joint).length > 1));
  });
}

// phrase is the translation of a text, or of one with values in it.
function phrase(text: string): string | undefined {
  if (Object.hasOwn(table, text)) return table[text];
  for (const p of patterns) {
    if (!p.pieces.every((x) => text.includes(x))) continue;
    const m = p.test.exec(text);
    if (m && !(p.clause && clauses(text, m))) return p.words.replace(/\{#?(\d)\}/g, (_, i: string) => { const v = m.groups?.[`v${i}`] ?? m[Number(i)] ?? ""; return v === text ? v : find(v) ?? v; });
  }
  return undefined;
}

const attributes = ["aria-label", "placeholder", "title", "data-tip"];

// translate says the words of a part of the page in its language.
export function translate(root: Element): void {
  if (language === "en") return;
  for (const e of [root, ...root.querySelectorAll("*")])
    for (const a of attributes) { const v = e.getAttribute(a); if (v) e.setAttribute(a, said(v)); }
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement?.closest("script, style, code, pre, textarea")) node.textContent = said(node.textContent ?? "");
  }
}
