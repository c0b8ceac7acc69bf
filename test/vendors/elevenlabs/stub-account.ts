/** An account with all fields that the vendor's SDK requires. */

const subscription = {
  tier: 'free',
  character_count: 0,
  character_limit: 10_000,
  max_credit_limit_extension: 0,
  can_extend_character_limit: false,
  allowed_to_extend_character_limit: false,
  voice_slots_used: 0,
  professional_voice_slots_used: 0,
  professional_voice_slots_used_in_workspace: 0,
  voice_limit: 3,
  voice_add_edit_counter: 0,
  professional_voice_limit: 0,
  can_extend_voice_limit: false,
  can_use_instant_voice_cloning: false,
  can_use_professional_voice_cloning: false,
  current_overage: { amount: '0', currency: 'usd' },
  status: 'active',
}

export const account = {
  user_id: 'stub',
  workspace_id: 'stub',
  subscription,
  is_new_user: false,
  can_use_delayed_payment_methods: false,
  is_onboarding_completed: true,
  is_onboarding_checklist_completed: true,
  created_at: 0,
  seat_type: 'workspace_admin',
}
