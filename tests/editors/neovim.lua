-- Neovim without a window, with its own client and nothing else: what it shows, and what it does when it is asked to.
-- Run by test_neovim.py as: nvim --headless --clean -u neovim.lua, with PTCOMPILE, SPEC and OUT in the environment.
local found = {}

local function finish(failure)
  found.failure = failure
  local file = assert(io.open(os.getenv("OUT"), "w"))
  file:write(vim.fn.json_encode(found))
  file:close()
  vim.cmd("qall!")
end

local function until_true(what, asked)
  if not vim.wait(60000, asked, 50) then
    error(what .. " did not come")
  end
end

local function request(buffer, method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function work()
  vim.cmd("edit " .. os.getenv("SPEC"))
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.start_client({
    name = "ptcompile",
    cmd = { os.getenv("PTCOMPILE"), "-m", "ptcompile", "server" },
    root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(buffer, client)
  until_true("a diagnostic", function() return #vim.diagnostic.get(buffer) > 0 end)
  found.diagnostics = vim.diagnostic.get(buffer)

  -- the quick fix, as its user takes it: the cursor on the line, and a choice of the menu
  vim.api.nvim_win_set_cursor(0, { found.diagnostics[1].lnum + 1, found.diagnostics[1].col })
  vim.ui.select = function(items, _, choose)
    found.actions = {}
    for _, item in ipairs(items) do table.insert(found.actions, (item[2] or item).title) end
    choose(items[1], 1)
  end
  vim.lsp.buf.code_action()
  until_true("the fix", function()
    return not table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"):find("noodes")
  end)
  found.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  until_true("no diagnostic", function() return #vim.diagnostic.get(buffer) == 0 end)

  -- completion, in a line that is only begun
  local last = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_buf_set_lines(buffer, last, last, false, { "  elastic: {m" })
  vim.api.nvim_win_set_cursor(0, { last + 1, 13 })
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  local place = vim.lsp.util.make_position_params()
  place.position.character = 13
  found.completion = {}
  local items = request(buffer, "textDocument/completion", place)
  for _, item in ipairs(items.items or items) do table.insert(found.completion, item.label) end
  vim.api.nvim_buf_set_lines(buffer, last, last + 1, false, {})

  vim.api.nvim_win_set_cursor(0, { 6, 4 })
  found.hover = request(buffer, "textDocument/hover", vim.lsp.util.make_position_params()).contents.value
  found.symbols = request(buffer, "textDocument/documentSymbol", vim.lsp.util.make_position_params())[1].name
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    vim.schedule(function()
      local fine, failure = pcall(work)
      finish(not fine and tostring(failure) or nil)
    end)
  end,
})
