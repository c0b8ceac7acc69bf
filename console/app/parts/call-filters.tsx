/** Filters that the lists of calls and of conversations share. */
import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../data/agents.ts'
import { SelectField, TextField } from './field.tsx'
import { onSubmit } from './form-values.ts'

/** Filters by a phone number when a person presses Enter. */
export function NumberFilter({ value, search }: { value: string; search: (number: string) => void }) {
  return (
    <form onSubmit={onSubmit((values) => search(values.text('text')))}>
      <TextField
        label="Number"
        name="text"
        defaultValue={value}
        placeholder="+1… or last digits"
        inputMode="tel"
        pattern="\+?[0-9]{4,15}"
        title="A number in E.164, or its last 4 to 15 digits"
      />
    </form>
  )
}

export function AgentFilter({ value, choose }: { value: string; choose: (agentId: string) => void }) {
  const { data = [] } = useQuery(agentsQuery)
  const choices = [{ value: '', label: 'Any' }, ...data.map(({ id, name }) => ({ value: id, label: name }))]
  return <SelectField label="Agent" choices={choices} value={value} onChange={(event) => choose(event.target.value)} />
}
