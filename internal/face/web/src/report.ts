import { draw } from "./charts";
import { wire } from "./common";
import { details } from "./detail";
import { tables } from "./tables";

wire();
tables(document);
draw(document);
details();
