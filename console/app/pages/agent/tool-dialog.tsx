import { useState } from 'react'
import type { BuiltinName, NewToolInput, Tool } from '../../../../generated/clients/typescript/models/platform.ts'
import { useCreateTool, useUpdateTool } from '../../data/agent.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { AreaField, Form } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'
import { Notice } from '../../parts/notice.tsx'

type DialogProps = { agentId: string; tool?: Tool; onClose: () => void }

const example = JSON.stringify({ type: 'object', properties: { item: { type: 'string' } } }, null, 2)

/** Transfer tools have more settings, which only the API can set. */
type Kind = 'webhook' | Exclude<BuiltinName, 'transfer_call'>

const kindLabels: Record<Kind, string> = {
  webhook: 'A webhook of yours',
  end_call: 'End the call',
  send_dtmf: 'Press keys',
  schedule_callback: 'Promise a callback',
}

const kinds = Object.entries(kindLabels).map(([value, label]) => ({ value, label }))

/** Adds a tool, or changes a webhook tool. */
export function ToolDialog({ agentId, tool, onClose }: DialogProps) {
  const create = useCreateTool(agentId)
  const update = useUpdateTool(agentId, tool?.id ?? '')
  const [isWrong, setWrong] = useState(false)
  const [kind, setKind] = useState<Kind>('webhook')
  const isWebhook = kind === 'webhook'
  const submit = (values: FormValues) => {
    const wanted = toolIn(values, kind)
    setWrong(wanted === null)
    if (wanted === null) return
    const { description, parameters, source } = wanted
    if (tool) update.mutate({ description, source, ...(parameters && { parameters }) }, { onSuccess: onClose })
    else create.mutate(wanted, { onSuccess: onClose })
  }
  return (
    <Dialog title={tool ? `Change ${tool.name}` : 'Add a tool'} onClose={onClose}>
      <Form
        submit={submit}
        error={tool ? update.error : create.error}
        actions={
          <Button type="submit" look="main" disabled={create.isPending || update.isPending}>
            Save the tool
          </Button>
        }
      >
        {!tool && <NewToolFields kind={kind} setKind={setKind} />}
        <AreaField
          label="Description"
          name="description"
          required
          rows={2}
          defaultValue={tool?.description}
          placeholder="Looks up how many of an item are there."
          note="The LLM decides by these words when to call the tool."
        />
        {isWebhook && <WebhookFields {...(tool && { tool })} />}
        {isWrong && <Notice tone="alarm" title="The arguments are not valid JSON." />}
      </Form>
    </Dialog>
  )
}

type KindProps = { kind: Kind; setKind: (kind: Kind) => void }

function NewToolFields({ kind, setKind }: KindProps) {
  return (
    <>
      <SelectField
        label="What runs"
        choices={kinds}
        value={kind}
        onChange={({ target }) => setKind(target.value as Kind)}
      />
      <TextField
        label="Name"
        name="name"
        required
        pattern="[a-zA-Z_][a-zA-Z0-9_\-]*"
        title="Letters, digits and _"
        maxLength={64}
        placeholder="find_stock"
      />
    </>
  )
}

function WebhookFields({ tool }: { tool?: Tool }) {
  return (
    <>
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        defaultValue={tool?.source.kind === 'webhook' ? tool.source.url : undefined}
        placeholder="https://shop.example/stock"
      />
      <AreaField
        label="Arguments as JSON Schema"
        name="parameters"
        rows={7}
        spellCheck={false}
        defaultValue={tool ? JSON.stringify(tool.parameters, null, 2) : example}
      />
    </>
  )
}

/** Returns null if the arguments are not JSON. */
function toolIn(values: FormValues, kind: Kind): NewToolInput | null {
  const first = { name: values.text('name'), description: values.text('description') }
  if (kind !== 'webhook') return { ...first, source: { kind: 'builtin', name: kind } }
  try {
    const parameters = JSON.parse(values.text('parameters') || 'null') as Record<string, unknown> | null
    return { ...first, parameters, source: { kind: 'webhook', url: values.text('url') } }
  } catch {
    return null
  }
}
