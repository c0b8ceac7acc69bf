/**
 * One step of the schema. `version` counts from 1. A step only adds, so that a Parley of the version before can serve over
 * it. A step that removes or tightens something waits one version (CONTRIBUTING.md, "Change the schema").
 */
export type Migration = {
  version: number
  name: string
  /** Why the version before cannot serve over this step. */
  breaks?: string
} & (Changes | Indexes)

/** Is done in one transaction, which locks the tables that it changes. */
type Changes = { sql: string; indexes?: never }

/** Indexes of tables that have rows already. They are built one after the other, while the tables are written. */
type Indexes = { indexes: readonly Index[]; sql?: never }

export type Index = {
  name: string
  table: string
  /** The columns in brackets, and the condition. */
  of: string
}
