"""Rules for what Roles and RoleBindings grant."""
