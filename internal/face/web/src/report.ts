import { draw } from "./charts";
import { wire } from "./common";
import { details } from "./detail";
import { play } from "./player";
import { tables } from "./tables";

wire();
tables(document);
draw(document);
play(document);
details();
