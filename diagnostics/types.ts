/** What Fluxion tells the user about the user's program, configuration or command line. */
export type Severity = 'error' | 'warning' | 'note';

export interface Span {
  /** The file as the user should see it: relative to the working directory where it lies below it. */
  readonly file: string;
  readonly text: string;
  /** UTF-16 offsets into `text`. */
  readonly start: number;
  readonly end: number;
}

export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  /** What is wrong and what follows from it. */
  readonly message: string;
  /** What to do about it. */
  readonly lift: string;
  readonly span: Span | null;
}

export type Report = (diagnostic: Diagnostic) => void;
