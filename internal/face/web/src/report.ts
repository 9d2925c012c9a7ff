import { Messages as messages } from "../../wizard/text/zh.json";
import { draw } from "./charts";
import { wire } from "./common";
import { details } from "./detail";
import { play } from "./player";
import { tables } from "./tables";
import { load } from "./words";
import words from "./zh.json";

wire();
void load({ words, messages: messages as [string, string][] }).then(() => {
  tables(document);
  draw(document);
  play(document);
  details();
});
