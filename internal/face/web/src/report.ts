import { draw } from "./charts";
import { wire } from "./common";

wire();
draw(document);
