import type { Price } from '../../domain/ports/model.ts'
import type { Price as WirePrice } from '../../generated/router/types.ts'

export function priceOf({ unit, microUsd, path, source, sourceUrl, asOf }: Price): WirePrice {
  return {
    unit,
    micro_usd: microUsd,
    ...(path && { path }),
    source,
    ...(sourceUrl !== undefined && { source_url: sourceUrl }),
    as_of: asOf,
  }
}
