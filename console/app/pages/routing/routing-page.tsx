import { useQuery } from '@tanstack/react-query'
import type { ModelRow } from '../../../../generated/clients/typescript/models/router.ts'
import { type RankingQuery, rankingQuery } from '../../data/models.ts'
import { pick, writeSearch } from '../../data/search.ts'
import { useFilterChange, useSearchValues } from '../../parts/address.ts'
import { shellWord } from '../../parts/command-strip.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { Stack } from '../../parts/layout.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { Ranking } from './ranking.tsx'

const names = ['kind', 'language', 'objective', 'path'] as const
type Filters = Partial<Record<(typeof names)[number], string>>

/** Shows in which order the router tries the models, and the figures behind the order. */
export function RoutingPage() {
  const filters = pick(useSearchValues(), names)
  const { kind = 'stt', language = 'en', objective = 'balanced', path = 'stream' } = filters
  // The server refuses values that are not in its contract, and the page shows this refusal.
  const query = { language, objective, path } as RankingQuery
  const ranking = useQuery(rankingQuery(query))
  const models = (ranking.data?.models ?? []).filter((model) => model.kind === kind)
  return (
    <Page
      title="Routing"
      lead="The order in which the router tries the models, the best first, and the figures behind the order."
      command={{
        path: `/router/v1/models${writeSearch({ language, objective, path })}`,
        cli: `models --language ${shellWord(language)} --objective ${shellWord(objective)} --path ${shellWord(path)}`,
      }}
    >
      <Stack>
        <Choices filters={{ kind, language, objective, path }} languages={languagesOf(models, language)} />
        <Answer of={ranking} rows={8}>
          {() => <Rows models={models.filter(({ languages }) => speaks(languages, language))} />}
        </Answer>
        <p>
          <a href="/docs/ranking">How models are ranked</a>
        </p>
      </Stack>
    </Page>
  )
}

function Rows({ models }: { models: readonly ModelRow[] }) {
  if (models.length > 0) return <Ranking models={models} />
  return (
    <Empty title="No model can be used for this">
      <p>A model is listed if its provider has a key and the model knows the language.</p>
    </Empty>
  )
}

function Choices({ filters, languages }: { filters: Filters; languages: readonly string[] }) {
  const change = useFilterChange(filters)
  const fields = [
    { name: 'kind', label: 'For', choices: kinds },
    { name: 'language', label: 'Language', choices: languages.map((value) => ({ value, label: value })) },
    { name: 'objective', label: 'Strategy', choices: objectives },
    { name: 'path', label: 'Figures', choices: paths },
  ] as const
  return (
    <FilterRow>
      {fields.map(({ name, ...field }) => (
        <SelectField
          key={name}
          {...field}
          value={filters[name]}
          onChange={({ target }) => change({ [name]: target.value })}
        />
      ))}
    </FilterRow>
  )
}

const kinds = [
  { value: 'stt', label: 'speech to text' },
  { value: 'llm', label: 'language models' },
  { value: 'tts', label: 'text to speech' },
]
const objectives = ['balanced', 'quality', 'latency', 'cost'].map((value) => ({ value, label: value }))
const paths = [
  { value: 'stream', label: 'of streams' },
  { value: 'batch', label: 'of whole requests' },
]

function languagesOf(models: readonly ModelRow[], chosen: string): string[] {
  const known = models.flatMap(({ languages }) => languages).filter((tag) => tag !== '*')
  return [...new Set([...known, 'en', chosen])].sort()
}

/** A model for `de` also knows `de-AT`. A model without a list, or with `*`, knows every language. */
function speaks(languages: readonly string[], tag: string): boolean {
  const base = baseOf(tag)
  return languages.length === 0 || languages.some((each) => each === '*' || baseOf(each) === base)
}

const baseOf = (tag: string) => tag.toLowerCase().split('-')[0]
