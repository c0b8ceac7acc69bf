/** One step of the schema. `version` counts from 1 without gaps. */
export type Migration = { version: number; name: string; sql: string }
