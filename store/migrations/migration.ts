/**
 * One step of the schema. `version` counts from 1. A step only adds, so that a Parley of the version before can serve over
 * it. A step that removes or tightens something waits one version (CONTRIBUTING.md, "Change the schema").
 */
export type Migration = {
  version: number
  name: string
  sql: string
  /** Why the version before cannot serve over this step. */
  breaks?: string
}
