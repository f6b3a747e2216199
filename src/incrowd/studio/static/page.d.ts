/** Types that the page's own modules share. */
declare namespace Page {
  /** Where something stands in a recipe. */
  type Path = (string | number)[];
  /** A part as a recipe has it. */
  type Values = Record<string, any>;
  /** Takes what makes the new value from what is there by then; undefined: it is left out. */
  type Put = (update: (now: any) => any, label: string) => unknown;
  /** Takes the new value of a parameter; undefined: it is left out. */
  type Changed = (name: string, value: any) => void;
  /** What can be chosen. `key` is what recipes call a part's name, `none` stands for no part, `columns` may be named. */
  type Offer = {kinds: Api.PartKind[], put: Put, key?: string, none?: string, columns?: string[]};
  /** A value, or a group of these, in a tree. */
  type Branch = {level: number, node: number, name: string, count: number, values: number, children: Branch[]};
  type TreeGiven = {found: Api.Hierarchy, edit: (edits: Record<string, any>[], label: string) => void};
  /** A cut of a number line, and the last level that has it. */
  type Cut = {at: number, level: number};
  type LineGiven = {bins: Api.Bin[], whole: boolean, cuts: number[][], changed: (cuts: number[][]) => void};
  type Shape = "way" | "best" | "try" | "now";
  /** A point of a chart. */
  type Dot = {key: string, name: string, x: number, y: number, kind: Shape, mark: string, best?: boolean};
  /** A way to publish; `parts` are those of its recipe. */
  type Way = {key: string, name: string, risk: number, loss: number, kind: Shape, mark: string, about: string,
    best?: boolean, parts: Record<string, any> | null};
}
