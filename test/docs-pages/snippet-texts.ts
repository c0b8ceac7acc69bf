/** The snippets on all pages of the documentation. */
import { sampleOf } from '../../codegen/pages/sample.ts'
import { languagesIn } from '../../codegen/pages/snippets.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { contracts } from './site.ts'

export const operations = contracts.flatMap((contract) =>
  contract.operations.map((operation) => ({ contract, operation })),
)

/** Returns the snippets in a language, by API and operation or channel. */
export function snippetsOf(language: string): Map<string, string> {
  const row = languagesIn(packageFile('.').pathname).find(({ name }) => name === language)
  const requests = operations.map(({ contract, operation }): [string, string] => [
    `${contract.name}-${operation.id}`,
    row?.request(sampleOf(contract, operation)) ?? '',
  ])
  const sockets = contracts.flatMap((contract) =>
    contract.channels.map((channel): [string, string] => [
      `${contract.name}-${channel.id}`,
      row?.socket?.(channel, contract) ?? '',
    ]),
  )
  return new Map([...requests, ...sockets])
}
