/** What the server sends, as types. What each means is in the server's OpenAPI document. */
declare namespace Api {
  type Fault = {kind: string, message: string, hint: string | null, column?: string | null, values?: string[]};
  type Recipe = Record<string, any>;
  /** What an element is made with: `on…` are handlers. */
  type Props = {[event: `on${string}`]: ((event: any) => unknown) | undefined, [name: string]: any};
  type Job = {id: string, project: string, kind: string, version: number, stage: string, done: number | null,
    state: "waiting" | "running" | "done" | "failed" | "cancelled", began: number, seconds: number,
    error: Fault | null, parts: string[], told: number, result?: any, found?: Record<string, any>};
  type Point = {basis: string, rows: number, risk: number | null, loss: number | null, risks: Record<string, number>,
    losses: Record<string, number>, strongest: string, withheld: number | null, published: number,
    failed: string};
  type Released = {summary: Record<string, any>, rows_in: number, rows: number, withheld: number | null, form: string,
    guarantees: {statement: string, basis: string}[], warnings: string[], linked: boolean, has_solutions: boolean,
    group_sizes: {smallest: number, largest: number, groups: number} | null, seconds: number};
  type Try = {id: string, version: number, at: number, name: string, recipe_parts: Record<string, any>,
    released: Released | null, point: Point | null, sample: Point | null, rows_here: boolean};
  type Published = {id: string, at: number, version: number, directory: string, summary: Record<string, any>,
    files: {name: string, size: number, sha256: string}[], warnings: string[], command: string};
  type Texts = {version: number, toml: string, python: string, command: string};
  type Project = {id: string, name: string, path: string, uploaded: boolean, error: Fault | null, version: number,
    state: "opening" | "ready" | "failed" | "needs file", recipe: Recipe | null, problems: Fault[],
    can_undo: string | null, can_redo: string | null, jobs?: Job[], tries: Try[], published: Published[],
    text?: Texts};
  type State = {name: string, version: string, screen: string, folders: string[], upload_limit: number,
    projects: {id: string, name: string, changed: number, state: string}[], current: Project | null,
    recent?: {id: string, name: string, path: string}[]};
  type Parameter = {name: string, choices: string[] | null, needed: boolean, default: any, about: string,
    kind: "whole" | "number" | "truth" | "text" | "choice" | "column" | "columns" | "list" | "texts" | "table"};
  type PartKind = {name: string, plain_name?: string, about: string, more?: string, parameters: Parameter[],
    common?: boolean, private?: boolean, usual?: boolean, needs_person?: boolean, uses_hierarchy?: boolean,
    title?: string};
  type Word = {name: string, plain_name?: string, about: string};
  type Catalogue = {models: PartKind[], methods: PartKind[], forms: PartKind[], hierarchies: PartKind[], dates: PartKind[],
    changes: PartKind[], attacks: PartKind[], set_models: PartKind[], set_methods: PartKind[], rules: PartKind[],
    recipe: Parameter[], roles: Word[], shows: Word[], risks: Word[], losses: Word[]};
  type SourceOption = {name: string, value: any, found_out: boolean, kind: string, choices: string[] | null, about: string,
    free?: boolean};
  type Opened = {source: Record<string, any>, found_out: string[], kind: string, notes: string[], options: SourceOption[],
    columns: {name: string, type: string, written: string | null}[],
    first: {columns: string[], rows: (string | null)[][]}};
  type ByRule = {recipe: Recipe, not_established: string[], questions: string[]};
  type Ledger = {ledger: string, spent: string, cap: string | null, keeps_people: boolean,
    entries: {number: number, time: string, kind: string, about: number, method: string | null, price: string | null}[]};
  type Risk = {attack: string, "plain name"?: string, column?: string, value: number, interval: [number, number],
    baseline: number, "baseline is": string, advantage: number, "got through": boolean, people: number, level: string,
    says: string};
  type Separation = {columns: string[], rows: number, groups: number, unique_rows: number, unique_share: number, k: number,
    separation: number};
  type Bin = {from: number, to: number, count: number};
  type Bar = {name: string, value: number, text?: string, class?: string};
  type Distribution = {kind: "numbers", bins: Bin[], missing: number}
    | {kind: "values", values: {value: string, count: number}[], missing: number,
    others: {values: number, count: number} | null}
    | {kind: "none", why: string};
  type ColumnProfile = {name: string, role: string, reason: string, unsure: boolean, distinct: number, distinct_exact: boolean,
    missing: number, unique_rows: number, unique_share: number, hierarchy: any,
    distribution: Distribution};
  type Profile = {rows: number, measured_rows: number, columns: ColumnProfile[], sets: Separation[], notes: string[],
    quasi: Separation | null, people: {proposed: string | null, asked: boolean,
    candidates: {column: string, distinct: number, rows: number}[]}};
  type LevelNode = {node: number, name: string, count: number, values: number, parent: number | null};
  type Hierarchy = {column: string, hierarchy: any, kind: string, proposed: any, numeric: boolean, whole?: boolean,
    cuts?: number[][] | null, covered: boolean, uncovered: {count: number, values: string[]} | null, rows: number,
    missing: number, levels: {level: number, nodes: number, listed: LevelNode[], left_out: number}[],
    histogram: Distribution, height: number};
}
