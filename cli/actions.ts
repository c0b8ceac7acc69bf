/** What the program needs of the product and main.ts hands over: the command line itself knows only the public contract. */

export type Check = { name: string; ok: boolean; detail: string; advice?: string }

export type KeyRow = {
  id: string
  scopes: readonly string[]
  /** Names of what its policy sets. */
  policy: readonly string[]
  test: boolean
  createdAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
}
export type OrganizationRow = { id: string; name: string; creditMicroUsd: number; maxConcurrency: number | null }

/** The store's administration, opened for one command. */
export type Admin = {
  organizations(): Promise<OrganizationRow[]>
  createOrganization(name: string): Promise<OrganizationRow>
  addCredit(organization: string, microUsd: number): Promise<OrganizationRow>
  keys(organization: string): Promise<KeyRow[]>
  /** Answers the secret, which is told this once. */
  createKey(organization: string, options: { scopes: string[]; test: boolean; policy: object }): Promise<string>
  rotateKey(organization: string, id: string): Promise<string>
  revokeKey(organization: string, id: string): Promise<boolean>
  /** Provider keys that were moved to the current master key, that could not be, and that name a master key nobody gave. */
  resealKeys(): Promise<{ resealed: number; failed: number; unreadable: number }>
}

/** What an update of the catalog came to; `before` and `after` are the days that the files are of. */
export type CatalogUpdate = {
  path: string
  before: string
  after: string
  models: number
  figures: number
  prices: number
}

export type Connection = { baseUrl: string; apiKey: string | null }

export type Actions = {
  version: string
  up(): Promise<void>
  /** An instance of its own on a free port with a store that goes when `run` has ended. */
  demo(run: (connection: Connection) => Promise<void>): Promise<void>
  doctor(): Promise<Check[]>
  configCheck(): Promise<string[]>
  /** SIGTERM to the running instance; resolves with its pid when it is gone, or null when none runs. */
  drain(): Promise<number | null>
  admin<Answer>(run: (admin: Admin) => Promise<Answer>): Promise<Answer>
  /** Merges a newer catalog, from a path or a URL, over the one in force. A Parley that runs takes it at its next start. */
  updateCatalog(source: string): Promise<CatalogUpdate>
  /** Where the commands that speak HTTP go, and with which key. */
  connection(): Promise<Connection>
}

/** Says what the user can do; printed without a stack. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandError'
  }
}
