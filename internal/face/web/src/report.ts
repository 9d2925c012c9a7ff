import { draw } from "./charts";
import { wire } from "./common";
import { play } from "./player";

wire();
draw(document);
play(document);
