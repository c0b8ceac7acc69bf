import { useNavigate } from '@tanstack/react-router'
import { useCreateAgent } from '../../data/agents.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { RoleForm } from '../../parts/role.tsx'
import { FirstFields } from './first-fields.tsx'
import { firstSettingsIn } from './settings.ts'

const example = { name: 'desk', systemPrompt: 'You answer the phone of a bicycle shop.', intent: { language: 'en' } }

export function NewAgentPage() {
  const created = useCreateAgent()
  const navigate = useNavigate()
  const open = (id: string) => void navigate({ to: '/agents/$id', params: { id }, search: { tab: 'talk' } })
  return (
    <Page
      title="New agent"
      lead="A name and a prompt are enough. All other settings can wait until you have talked to the agent."
      command={{
        method: 'POST',
        path: '/v1/agents',
        body: example,
        cli: `agents create --name desk --prompt 'You answer the phone of a bicycle shop.'`,
      }}
    >
      <Card>
        <RoleForm
          needs="createAgent"
          action="Making an agent"
          error={created.error}
          submit={(values) => created.mutate(firstSettingsIn(values), { onSuccess: ({ id }) => open(id) })}
          actions={
            <>
              <Button type="submit" look="main" disabled={created.isPending}>
                Make the agent
              </Button>
              <LinkButton to="/agents">Cancel</LinkButton>
            </>
          }
        >
          <FirstFields />
        </RoleForm>
      </Card>
    </Page>
  )
}
