# frozen_string_literal: true

# What Open OnDemand's forms and dashboard show of gpuadvise: GPU types, free now, and waits.
#
# For ERB of form.yml.erb, submit.yml.erb and dashboard widgets. Ruby's standard library only. It runs in the user's own
# process (the PUN), so the kernel tells gpuadvised who asks. Nothing here raises or takes longer than TIMEOUT_SECONDS a
# question: without an answer the form still works, without waits.
require 'io/wait'
require 'json'
require 'socket'
require 'erb'

module Gpuadvise
  SOCKET = ENV.fetch('GPUADVISE_SOCKET', '/run/gpuadvise/gpuadvised.sock')
  TIMEOUT_SECONDS = 1.0
  MAX_BYTES = 4 << 20
  MOST_QUESTIONS = 20
  NAME = /\A[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\z/

  module_function

  # The answer of the API as a Hash; nil where there is none in time.
  def ask(method, target, body = nil)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + TIMEOUT_SECONDS
    text = body ? JSON.generate(body) : ''
    socket = Socket.new(:UNIX, :STREAM)
    begin
      connect(socket, deadline)
      send_all(socket, "#{method} #{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" \
                       "Content-Type: application/json\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}", deadline)
      read_answer(socket, deadline)
    ensure
      socket.close
    end
  rescue SystemCallError, IOError, ArgumentError, JSON::ParserError, EncodingError
    nil
  end

  # One row for each GPU type of the cluster: {type:, name:, free:, total:, waits: {1 => [p50, p90], ...}} in seconds, for
  # each of `counts` on one node and a job of `hours`; nil where the job cannot run. One request for all waits.
  def rows(counts: [1, 2, 4], hours: 4)
    types = gpu_types.first([MOST_QUESTIONS / [counts.size, 1].max, 1].max)
    pairs = types.product(counts).first(MOST_QUESTIONS)
    return [] if pairs.empty?

    jobs = pairs.map { |row, n| { gres: "gpu:#{row[:type]}:#{n}", time_limit_seconds: (hours.to_f * 3600).round } }
    answers = list(ask('POST', '/v1/when', { jobs: jobs, cheaper: false }), 'answers')
    pairs.each_with_index { |(row, n), i| row[:waits][n] = wait_of(answers[i]) }
    types
  end

  # `options:` of a select widget: [label, value, {data-wait-N: words}]; the first lets Slurm choose. The label has the wait
  # for the first of `counts`; form.js changes it with the number of GPUs.
  def select_options(counts: [1, 2, 4], hours: 4)
    options = rows(counts: counts, hours: hours).map do |row|
      data = { 'data-gpuadvise-name' => row[:name] }
      counts.each { |n| data["data-gpuadvise-wait-#{n}"] = wait_words(row[:waits][n]) }
      ["#{row[:name]} – #{wait_words(row[:waits][counts.first])}", row[:type], data]
    end
    [['Any GPU', 'any'], *options]
  end

  # The value of --gres for a choice of the form. Whoever posts a form may send anything: only names and numbers pass.
  def gres(type, count)
    number = count.to_i.clamp(1, 1024)
    type.to_s != 'any' && NAME.match?(type.to_s) ? "gpu:#{type}:#{number}" : "gpu:#{number}"
  end

  # "starts now", "about 8 min (p90 2 h)", "cannot run".
  def wait_words(wait)
    return 'cannot run' if wait == :impossible
    return 'wait not known' unless wait

    middle, late = wait
    return 'starts now' if late < 30

    "about #{duration(middle)} (p90 #{duration(late)})"
  end

  def duration(seconds)
    minutes = (seconds / 60.0).round
    return 'now' if minutes < 1
    return "#{minutes} min" if minutes < 90
    return "#{(minutes / 60.0).round} h" if minutes < 48 * 60

    "#{(minutes / 1440.0).round} d"
  end

  def escape(text)
    ERB::Util.html_escape(text.to_s)
  end

  def gpu_types
    list(ask('GET', '/v1/gpus'), 'gpus').filter_map do |gpu|
      type = gpu['gres_types'].is_a?(Array) ? gpu['gres_types'].first : nil
      next unless type.is_a?(String) && NAME.match?(type)

      name = gpu['gpu_name'].is_a?(String) ? gpu['gpu_name'].gsub(/[^[:print:]]/, '?')[0, 64] : type
      { type: type, name: name, free: whole(gpu['free']), total: whole(gpu['total']), waits: {} }
    end
  end

  def wait_of(answer)
    return nil unless answer.is_a?(Hash)
    return :impossible if answer['error']

    wait = [answer['wait_p50_seconds'], answer['wait_p90_seconds']]
    wait.all?(Numeric) ? wait : nil
  end

  def whole(value)
    value.is_a?(Integer) ? value : '?'
  end

  def list(answer, key)
    rows = answer.is_a?(Hash) ? answer[key] : nil
    rows.is_a?(Array) ? rows.grep(Hash) : []
  end

  def connect(socket, deadline)
    socket.connect_nonblock(Socket.sockaddr_un(SOCKET))
  rescue IO::WaitWritable
    raise IOError, 'too late' unless socket.wait_writable(left(deadline))
    begin
      socket.connect_nonblock(Socket.sockaddr_un(SOCKET))
    rescue Errno::EISCONN
      nil
    end
  end

  def send_all(socket, bytes, deadline)
    until bytes.empty?
      raise IOError, 'too late' unless socket.wait_writable(left(deadline))

      sent = socket.write_nonblock(bytes, exception: false)
      bytes = bytes.byteslice(sent..) if sent.is_a?(Integer)
    end
  end

  def read_answer(socket, deadline)
    bytes = +''.b
    loop do
      raise IOError, 'too late' unless socket.wait_readable(left(deadline))

      part = socket.read_nonblock(65_536, exception: false)
      break if part.nil?

      bytes << part if part.is_a?(String)
      raise IOError, 'too large' if bytes.bytesize > MAX_BYTES
    end
    head, body = bytes.split("\r\n\r\n", 2)
    return nil unless body && head.match?(%r{\AHTTP/1\.[01] 200 })

    JSON.parse(body.force_encoding('UTF-8'), max_nesting: 64)
  end

  def left(deadline)
    [deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max
  end

  private_class_method :connect, :send_all, :read_answer, :left, :wait_of, :list, :whole, :gpu_types
end
