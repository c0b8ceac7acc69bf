/**
 * `make check` runs this file. It warns if a vendor will soon remove a model that is served by default. It fails if the
 * shipped catalog is invalid. A date alone never makes the check fail, so an unchanged build that passed yesterday
 * passes today.
 */
import { readFileSync } from 'node:fs'
import { CatalogError, parseCatalog, shippedFile } from '../../providers/catalog/file.ts'
import { openCatalog } from '../../providers/catalog/rows.ts'
import { createProviders } from '../../providers/registry.ts'
import { outboundDefaults } from '../../runtime/outbound/limits.ts'
import { systemClock } from '../../runtime/timing/clock.ts'

const warnedDays = 120
const dayMs = 86_400_000

try {
  const { as_of: asOf, models } = parseCatalog(readFileSync(shippedFile, 'utf8'), 'the catalog that ships')
  console.log(`catalog of ${asOf}: ${models.length} models`)
} catch (error) {
  if (!(error instanceof CatalogError)) throw error
  console.error(error.message)
  process.exit(1)
}

const deps = { limits: outboundDefaults, clock: systemClock, catalog: openCatalog(null), local: null, ollamaUrl: null }
const providers = await createProviders([], {}, deps)
const today = systemClock.nowMs()
for (const { provider, id, deprecationDate } of providers.flatMap(({ models }) => models)) {
  if (deprecationDate === undefined) continue
  const days = Math.floor((Date.parse(deprecationDate) - today) / dayMs)
  if (days > warnedDays) continue
  const when = days < 0 ? `was taken away on ${deprecationDate}` : `goes on ${deprecationDate}, in ${days} days`
  console.warn(`WARNING: ${provider}/${id} ${when}`)
}
await Promise.all(providers.map((provider) => provider.close()))
