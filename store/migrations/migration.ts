/**
 * One schema step. Versions count on from the baseline. A step only adds to the schema, so the previous server version
 * can serve before and after it. To remove or tighten something, wait one version (CONTRIBUTING.md, "Change the
 * schema").
 */
export type Migration = {
  version: number
  name: string
  /** States why the previous server version cannot serve after this step. Absent: it can. */
  breaks?: string
} & (Changes | Indexes)

/** SQL that runs in one transaction and locks each changed table. */
type Changes = { sql: string; indexes?: never }

/** Indexes for tables with existing rows. They are built one after the other, while the tables stay in use. */
type Indexes = { indexes: readonly Index[]; sql?: never }

export type Index = {
  name: string
  table: string
  /** SQL: the index's columns in brackets, and its condition. */
  of: string
}
